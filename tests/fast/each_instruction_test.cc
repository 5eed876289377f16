// A hit that is interrupted at each of its instructions, one after the other: by a signal's handler
// that hits as well, and by a reader that takes what is there. Stepped by the trap flag.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include <signal.h>
#include <ucontext.h>

#include "fast/counting.h"
#include "sanitized.h"

namespace tracewell::fast {
namespace {

constexpr int kStepFlag = 0x100;

/// What happens at one instruction of a hit, told by its number.
struct Interruption {
  uint64_t at = 0, seen = 0;
  std::function<void()> act;
} interruption;

void on_step(int, siginfo_t*, void* context) {
  auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  if (interruption.seen++ != interruption.at) return;
  flags &= ~kStepFlag;
  interruption.act();
}

class EachInstruction : public ::testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGTRAP, &action, &before_), 0);
  }
  void TearDown() override { sigaction(SIGTRAP, &before_, nullptr); }

  /// True: the hit was over before that instruction.
  static bool hit_interrupted(Counting& counting, uint64_t number, uint64_t at,
                              std::function<void()> act) {
    interruption = {at, 0, std::move(act)};
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n"  // the red zone
        "pushfq\n orq %1, (%%rsp)\n popfq\n"
        "call *%2\n"
        "pushfq\n andq %3, (%%rsp)\n popfq\n"
        "lea 128(%%rsp), %%rsp\n"
        :
        : "D"(number), "i"(kStepFlag), "r"(counting.hit), "i"(~kStepFlag)
        : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
    return interruption.seen <= at;
  }

 private:
  struct sigaction before_ {};
};

/// `unread` records are there before; at the instruction, `nested` hits come, and the reader before
/// or behind them. Whatever was hit is taken once, at once or in the laps after that.
struct Case {
  uint64_t hits_before, unread, nested;
  bool reads_first, reads_last;
};

void take(Counting& counting, std::multiset<uint64_t>& taken) {
  for (const auto& record : counting.here.records()) taken.insert(Counting::number(record));
}

TEST_F(EachInstruction, OfAHitMayBeFollowedByAnyOther) {
  constexpr uint64_t kRingBytes = 4096, kInstructionsMax = 2000;
  constexpr Case kCases[] = {
      {8, 0, 1, false, false}, {8, 1, 0, true, false}, {8, 1, 1, true, true},
      {8, 1, 2, false, true},  {8, 0, 3, false, true}, {1, 1, 1, true, true},
      {15, 3, 1, true, true},  {17, 9, 9, true, true}, {16, 16, 2, true, false}};
  for (size_t which = 0; which < std::size(kCases); ++which) {
    const Case& one = kCases[which];
    const size_t each = tracewell::test::each_slow();
    uint64_t at = which % each;  // others in each case
    for (bool over = false; !over; at += each) {
      ASSERT_LT(at, kInstructionsMax);
      Counting counting({.threads = 16, .rings = 1, .ring_bytes = kRingBytes}, 224);
      uint64_t next = 0;
      std::multiset<uint64_t> taken;
      for (uint64_t i = 0; i < one.hits_before; ++i) {
        counting.hit(next++);
        if (i + one.unread < one.hits_before) take(counting, taken);
      }
      over = EachInstruction::hit_interrupted(counting, next++, at, [&] {
        if (one.reads_first) take(counting, taken);
        for (uint64_t i = 0; i < one.nested; ++i) counting.hit(next++);
        if (one.reads_last) take(counting, taken);
      });
      const uint64_t lost = counting.here.lost();
      for (int i = 0; i < 60; ++i) {
        counting.hit(next++);
        if (i % 3 == 0) take(counting, taken);
      }
      take(counting, taken);
      std::multiset<uint64_t> all;
      for (uint64_t i = 0; i < next; ++i) all.insert(i);
      const bool had_room = one.unread + one.nested + 1 < kRingBytes / 224;
      if (had_room) {
        ASSERT_EQ(lost, 0U) << "at instruction " << at;
      }
      ASSERT_EQ(counting.here.lost(), lost) << "at instruction " << at;
      ASSERT_EQ(taken.size() + lost, all.size()) << "at instruction " << at;
      ASSERT_TRUE(std::ranges::includes(all, taken)) << "at instruction " << at;
    }
    EXPECT_GT(at, 50U) << "so many instructions were looked at";
  }
}

}  // namespace
}  // namespace tracewell::fast
