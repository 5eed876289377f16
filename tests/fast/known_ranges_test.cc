// What hits may load from where a fault does harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include <ucontext.h>

#include "fast/hit_here.h"
#include "fast/thunk.h"

namespace tracewell::fast {
namespace {

using Kind = RecordBlock::Kind;

/// Hits that collect so many bytes at the address that is in rsi.
class KnownMemory : public testing::Test {
 protected:
  KnownMemory() {
    here_.read_by(TRACEWELL_READS_KNOWN);
    body_ = here_.add(1, {{.kind = TRACEWELL_STEP_MEMORY, .base = 6, .bytes = 8}});
    end_of_body_ = here_.take(0);
    emptied_ = &here_.known();
    LoadTable::last = 0;
    LoadTable::in_between = [] { emptied_->wipe(); };  // as a tracer, who leads the thread on then
  }
  ~KnownMemory() override { LoadTable::in_between = nullptr; }
  bool failed_in_body() const { return LoadTable::last >= body_ && LoadTable::last < end_of_body_; }
  /// What was read at an address; a memory access error is "!".
  std::string read(uint64_t address) {
    Registers before;
    before.general[6] = address;
    EXPECT_EQ(call_body(body_, before), before);
    std::string out;
    for (const auto& record : here_.records()) {
      RecordBlocks blocks(record.blocks);
      while (const auto block = blocks.next())
        out += block->kind == Kind::Fault ? "!" : std::string(as_text(block->bytes));
    }
    return out;
  }
  std::string read(const uint8_t* from) { return read(reinterpret_cast<uint64_t>(from)); }
  static tracewell_range range_of(std::span<const uint8_t> memory) {
    const auto start = reinterpret_cast<uint64_t>(memory.data());
    return {start, start + memory.size()};
  }
  tracewell_ranges& shared() {
    return *reinterpret_cast<tracewell_ranges*>(here_.memory().data() +
                                                here_.shape().ranges_offset());
  }

  HitsHere here_;
  uint64_t body_ = 0, end_of_body_ = 0;
  static inline KnownRanges* emptied_ = nullptr;
};

TEST_F(KnownMemory, WhatIsNotKnownIsReadByCallsAndAskedFor) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  std::memcpy(page.data(), "sesame!.", 8);
  const uint64_t faults = LoadTable::faults;
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(read(page.data()), "sesame!.");
  EXPECT_TRUE(here_.known().wanted());
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(read(0x1000), "!");
  EXPECT_FALSE(here_.known().wanted()) << "there is no such memory";
  here_.known().set({range_of(page)});
  EXPECT_EQ(read(page.data()), "sesame!.");
  EXPECT_FALSE(here_.known().wanted());
  EXPECT_EQ(LoadTable::faults, faults);
  munmap(page.data(), page.size());
}

TEST_F(KnownMemory, WhatWasUnmappedSinceFaultsAndIsMended) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults + 1);
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults + 1) << "nothing is known any more";
}

/// The body's own code loads what is known, where the hint says so; all else is the collector's.
/// Each is told by where a load fails.
TEST_F(KnownMemory, WhatWasFoundBeforeIsLoadedByTheBody) {
  constexpr uint64_t kNeighbours = uint64_t{1} << TRACEWELL_HINT_SHIFT;
  const std::span<uint8_t> some = pages(2 * kNeighbours, PROT_READ | PROT_WRITE);
  const std::span<uint8_t> page = some.last(some.size() - (-range_of(some).start) % kNeighbours);
  const std::span<uint8_t> first = page.first(4096), last = page.subspan(2 * 4096, 4096);
  std::memcpy(last.data(), "sesame!.", 8);
  const std::vector<tracewell_range> both = {range_of(first), range_of(last)};
  munmap(some.data(), static_cast<size_t>(first.data() + first.size() - some.data()));
  here_.known().set(both);
  EXPECT_EQ(read(last.data()), "sesame!.");  // its hint, and that of its neighbours
  EXPECT_EQ(read(first.data()), "!");
  EXPECT_FALSE(failed_in_body()) << "another range's hint";
  here_.known().set(both);
  EXPECT_EQ(read(first.data()), "!");
  EXPECT_TRUE(failed_in_body());
  for (const uint64_t address : {both[0].start - 1, both[0].end - 7}) {
    here_.known().set(both);
    LoadTable::last = 0;
    EXPECT_EQ(read(address), "!");
    EXPECT_FALSE(failed_in_body()) << "it is not all in the range";
  }
  munmap(some.data(), some.size());
}

/// A body that was made for loads makes none once they are turned off, by any of these words.
TEST_F(KnownMemory, TheBodyLoadsNothingThatItMayNot) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  const uint64_t fixed = here_.add(
      2, {{.kind = TRACEWELL_STEP_MEMORY, .value = range_of(page).start + 16, .bytes = 8}});
  const uint64_t end_of_fixed = here_.take(0);
  here_.known().set({range_of(page)});
  read(page.data());
  munmap(page.data(), page.size());
  const auto faults_in_bodies = [&] {
    uint64_t sum = 0;
    for (const uint64_t body : {body_, fixed}) {
      here_.known().set({range_of(page)});
      LoadTable::last = 0;
      Registers before;
      before.general[6] = range_of(page).start;
      EXPECT_EQ(call_body(body, before), before);
      sum += failed_in_body() ||
             (LoadTable::last >= fixed && LoadTable::last < end_of_fixed);
      here_.records();
    }
    return sum;
  };
  EXPECT_EQ(faults_in_bodies(), 2U);
  here_.geometry().reads = TRACEWELL_READS_CALL;
  EXPECT_EQ(faults_in_bodies(), 0U);
  here_.geometry().reads = TRACEWELL_READS_KNOWN;
  EXPECT_EQ(faults_in_bodies(), 2U);
  here_.area().reader = 0x40000000;  // FUTEX_OWNER_DIED
  EXPECT_EQ(faults_in_bodies(), 0U);
  here_.area().reader = 1;
  tracewell_fault_actions actions{};
  here_.geometry().fault_actions = &actions;
  here_.known().ask_for_handlers();
  EXPECT_EQ(faults_in_bodies(), 1U) << "the first asks for the handlers, as all collectors do";
  EXPECT_EQ(actions.sequence, 2U);
}

/// It looks itself, right before it loads: the tracer may have died since the hit began.
TEST_F(KnownMemory, TheBodyLooksForATracer) {
  std::vector<uint8_t> blocks(64);
  static const uint64_t value = 4711;
  tracewell_hit hit{};
  hit.registers[6] = reinterpret_cast<uint64_t>(&value);
  read(hit.registers[6]);
  const auto fill = here_.plan().fill;
  ASSERT_NE(fill, nullptr);
  EXPECT_EQ(fill(&hit, blocks.data()), 11U + 8);
  here_.area().reader = 0x40000000;
  EXPECT_EQ(fill(&hit, blocks.data()), 0U);
}

/// What was unmapped, and is in the table no more, is led to by no hint.
TEST_F(KnownMemory, AHintDoesNotOutliveItsRange) {
  const std::span<uint8_t> page = pages(3 * 4096, PROT_READ | PROT_WRITE);
  const std::span<uint8_t> first = page.first(4096), last = page.subspan(2 * 4096);
  std::memcpy(last.data(), "sesame!.", 8);
  here_.known().set({range_of(first), range_of(last)});
  EXPECT_EQ(read(last.data()), "sesame!.");
  here_.known().set({range_of(first)});
  munmap(last.data(), last.size());
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(read(last.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults);
  munmap(first.data(), first.size());
}

TEST_F(KnownMemory, NothingIsLoadedWhileTheTableChanges) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  const uint64_t faults = LoadTable::faults;
  shared().sequence |= 1;
  EXPECT_EQ(read(page.data()), "!");
  EXPECT_EQ(LoadTable::faults, faults);
}

TEST_F(KnownMemory, ATableThatLiesCostsFaultsAndNoMore) {
  tracewell_ranges& table = shared();
  table.count = UINT32_MAX;
  for (uint16_t& hint : table.hints) hint = UINT16_MAX;
  for (tracewell_range& one : table.ranges) one = {0, UINT64_MAX};
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{1} << 63, ~uint64_t{7}})
    EXPECT_EQ(read(address), "!");
  for (tracewell_range& one : table.ranges) one = {UINT64_MAX, 0};
  EXPECT_EQ(read(0x1000), "!");
}

TEST_F(KnownMemory, ManyRangesAreFoundAndTheLargestStay) {
  constexpr size_t kAll = TRACEWELL_RANGES_MAX + 100;
  const std::span<uint8_t> memory = pages(kAll * 3 * 4096, PROT_READ | PROT_WRITE);
  std::vector<tracewell_range> ranges;
  for (size_t i = 0; i < kAll; ++i) {
    uint8_t* const at = memory.data() + i * 3 * 4096;
    std::memcpy(at, "12345678", 8);
    ranges.push_back(range_of({at, i < 100 ? 4096 : 2 * 4096UL}));
  }
  std::ranges::reverse(ranges);
  here_.known().set(ranges);
  EXPECT_EQ(shared().count, TRACEWELL_RANGES_MAX);
  for (size_t i = 0; i < kAll; ++i) {
    ASSERT_EQ(read(memory.data() + i * 3 * 4096), "12345678") << i;
    ASSERT_EQ(here_.known().wanted(), i < 100) << i;
  }
  here_.known().set({range_of(memory.first(4096)), range_of(memory.subspan(4096, 4096))});
  EXPECT_EQ(shared().count, 1U) << "they touch";
  EXPECT_EQ(shared().ranges[1].end, 0U) << "a hint may lead there";
  munmap(memory.data(), memory.size());
}

TEST_F(KnownMemory, WhoLooksWhileItChangesReadsWhatIsThere) {
  constexpr size_t kPages = 64, kRounds = 20000;
  const std::span<uint8_t> memory = pages(kPages * 2 * 4096, PROT_READ | PROT_WRITE);
  std::vector<tracewell_range> ranges;
  for (size_t i = 0; i < kPages; ++i) {
    const std::span<uint8_t> two = memory.subspan(i * 2 * 4096, 2 * 4096);
    std::memcpy(two.data(), "12345678", 8);
    mprotect(two.data() + 4096, 4096, PROT_NONE);
    ranges.push_back(range_of(two.first(4096)));
  }
  const uint64_t faults = LoadTable::faults;
  std::atomic<bool> ends = false;
  std::thread changes([&] {
    for (size_t at = 0; !ends; ++at)
      here_.known().set({ranges.begin() + static_cast<ptrdiff_t>(at % kPages), ranges.end()});
  });
  for (size_t i = 0; i < kRounds; ++i) {
    const uint8_t* const at = memory.data() + i % kPages * 2 * 4096;
    ASSERT_EQ(read(at), "12345678");
    ASSERT_EQ(read(at + 4096), "!");
  }
  ends = true;
  changes.join();
  EXPECT_EQ(LoadTable::faults, faults);
  munmap(memory.data(), memory.size());
}

/// Calls code of one body instruction by instruction, and `change` in front of the nth.
class Stepped {
 public:
  static uint64_t call(const tracewell_hit_plan& plan, tracewell_hit& hit, uint64_t end,
                       int change_at, std::function<void()> change) {
    std::vector<uint8_t> blocks(64);
    begin_ = reinterpret_cast<uint64_t>(plan.fill), end_ = end;
    left_ = change_at, change_ = std::move(change), inside_ = false;
    struct sigaction action {}, before;
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before);
    raise(SIGTRAP);
    const uint64_t bytes = plan.fill(&hit, blocks.data());
    sigaction(SIGTRAP, &before, nullptr);
    return bytes;
  }
  static bool changed() { return left_ < 0; }

 private:
  static void step(int, siginfo_t*, void* context) {
    constexpr greg_t kTrap = 0x100;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto at = static_cast<uint64_t>(registers[REG_RIP]);
    if (at >= begin_ && at < end_) {
      if (left_-- == 0) change_();
      inside_ = true;
    }
    if (inside_ && (at < begin_ || at >= end_)) registers[REG_EFL] &= ~kTrap;
    else registers[REG_EFL] |= kTrap;
  }
  static inline uint64_t begin_ = 0, end_ = 0;
  static inline int left_ = 0;
  static inline bool inside_ = false;
  static inline std::function<void()> change_;
};

/// Two ranges in turns at one place of the table: half of each would hold what is between them.
TEST_F(KnownMemory, TheBodySeesNoHalfOfAChange) {
  const std::span<uint8_t> three = pages(3 * 4096, PROT_READ | PROT_WRITE);
  const tracewell_range first = range_of(three.first(4096)), last = range_of(three.last(4096));
  mprotect(three.data() + 4096, 4096, PROT_NONE);
  tracewell_hit hit{};
  hit.registers[6] = first.end;
  for (const bool forwards : {true, false}) {
    int at = 0;
    for (; at == 0 || Stepped::changed(); ++at) {
      here_.known().set({forwards ? first : last});
      const auto change = [&] { here_.known().set({forwards ? last : first}); };
      EXPECT_EQ(Stepped::call(here_.plan(), hit, end_of_body_, at, change), 0U) << at;
    }
    EXPECT_GT(at, 20) << "it was stepped";
  }
  EXPECT_EQ(LoadTable::last, 0U);
  munmap(three.data(), three.size());
}

TEST_F(KnownMemory, WithoutATracerNothingIsLoaded) {
  const std::span<uint8_t> page = pages(4096, PROT_READ | PROT_WRITE);
  here_.known().set({range_of(page)});
  munmap(page.data(), page.size());
  here_.area().reader = 0x40000000;  // FUTEX_OWNER_DIED
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(read(page.data()), "");
  EXPECT_EQ(LoadTable::faults, faults);
}

}  // namespace
}  // namespace tracewell::fast
