// Records that tell of changes of the vector state: what they come to is what was there.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <random>

#include <sys/mman.h>
#include <sys/time.h>

#include "fast/counting.h"
#include "fast/thunk.h"
#include "fast/vector_state.h"

namespace tracewell::fast {
namespace {

constexpr uint64_t kX87AndSse = 3;
constexpr uint32_t kAreaBytes = 576, kXmmAt = 160;
const std::vector<tracewell_vector_part> kParts = {
    {0, 24, 1}, {32, 128, 1}, {24, 8, 2}, {160, 256, 2}};
const HitsHere::Step kVectors{
    .kind = TRACEWELL_STEP_VECTOR, .value = kX87AndSse, .bytes = kAreaBytes};

void tell_changes(HitsHere& here) {
  set_vectors(here.geometry(), kParts, 0);
}

/// Of the one in the record; with its kind.
std::pair<RecordBlock::Kind, std::vector<uint8_t>> vectors_in(Bytes record, VectorState& state) {
  RecordBlocks blocks(record);
  while (const auto block = blocks.next()) {
    if (block->kind != RecordBlock::Kind::Vector && block->kind != RecordBlock::Kind::VectorChange)
      continue;
    const Bytes area =
        block->kind == RecordBlock::Kind::Vector ? block->bytes : state.apply(*block);
    return {block->kind, {area.begin(), area.end()}};
  }
  ADD_FAILURE() << "no vectors";
  return {};
}

TEST(FastVectors, ChangesComeToWhatThereIs) {
  HitsHere here;
  tell_changes(here);
  VectorState state(kParts, kX87AndSse);
  const uint64_t body = here.add(1, {{}, kVectors});
  std::mt19937_64 random(3);
  Registers registers;
  for (int i = 0; i < 500; ++i) {
    if (random() % 3 == 0) registers.vector[random() % 8] = random();
    ASSERT_EQ(call_body(body, registers), registers);
    const auto records = here.records();
    ASSERT_EQ(records.size(), 1U);
    const auto [kind, area] = vectors_in(records[0].blocks, state);
    EXPECT_EQ(kind, RecordBlock::Kind::VectorChange);
    ASSERT_GE(area.size(), kXmmAt + sizeof registers.vector);
    EXPECT_EQ(std::memcmp(&area[kXmmAt], registers.vector, sizeof registers.vector), 0) << i;
  }
}

TEST(FastVectors, WhatHasNotChangedTakesNoRoom) {
  HitsHere here;
  tell_changes(here);
  const uint64_t body = here.add(1, {{}, kVectors});
  const Registers registers;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(call_body(body, registers), registers);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 5U);
  constexpr uint32_t kMxcsr = 4;  // what the test itself does changes other registers at most
  for (size_t i = 0; i < 5; ++i) {
    RecordBlocks blocks(records[i].blocks);
    blocks.next();
    const auto block = blocks.next();
    ASSERT_TRUE(block && block->kind == RecordBlock::Kind::VectorChange);
    EXPECT_EQ((block->change.parts & kMxcsr) != 0, i == 0);
    EXPECT_EQ(block->change.base == 0, i == 0);
    EXPECT_EQ(records[i].blocks.size(), 2 + sizeof(tracewell_general) +
                                            sizeof(tracewell_vector_change) +
                                            block->change.bytes);
  }
}

TEST(FastVectors, ARecordThatIsLostTakesItsChangesWithIt) {
  HitsHere here;
  tell_changes(here);
  VectorState state(kParts, kX87AndSse);
  static const char text[600] = {};
  const HitsHere::Step memory{.kind = TRACEWELL_STEP_MEMORY,
                              .value = reinterpret_cast<uint64_t>(text),
                              .bytes = sizeof text};
  const uint64_t good = here.add(1, {{}, kVectors});
  const uint64_t too_large = here.add(2, {{}, kVectors, memory}, {}, 1024);
  Registers registers;
  for (uint64_t i = 1; i < 20; ++i) {
    registers.vector[0] = i;
    ASSERT_EQ(call_body(i % 2 != 0 ? too_large : good, registers), registers);
  }
  EXPECT_EQ(here.records().size(), 9U);
  registers.vector[0] = 100;
  ASSERT_EQ(call_body(too_large, registers), registers);
  ASSERT_EQ(call_body(good, registers), registers);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  const auto [kind, area] = vectors_in(records[0].blocks, state);
  ASSERT_GE(area.size(), kXmmAt + 8U) << "it does not need what was lost";
  EXPECT_EQ(area[kXmmAt], 100);
}

TEST(FastVectors, AnotherThreadsRingBeginsWithAllOfIt) {
  HitsHere here({.rings = 1, .ring_bytes = 1 << 16});
  tell_changes(here);
  const uint64_t body = here.add(1, {{}, kVectors});
  const Registers registers;
  ASSERT_EQ(call_body(body, registers), registers);
  here.reader().give_up(0, [](auto) {});
  ASSERT_EQ(call_body(body, registers), registers);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  VectorState state(kParts, kX87AndSse);
  EXPECT_FALSE(vectors_in(records[0].blocks, state).second.empty());
}

TEST(FastVectors, WhatMakesNoSenseIsNothing) {
  VectorState state(kParts, kX87AndSse);
  const std::vector<uint8_t> bytes(416);
  RecordBlock block;
  block.kind = RecordBlock::Kind::VectorChange;
  block.bytes = bytes;
  block.change = {.parts = 15, .bytes = 416, .base = 7, .generation = 8, .present = 3};
  EXPECT_TRUE(state.apply(block).empty()) << "it changes what was never told";
  block.change.base = 0;
  EXPECT_EQ(state.apply(block).size(), kAreaBytes);
  block.change.base = 8;
  block.bytes = Bytes(bytes).first(100);
  EXPECT_TRUE(state.apply(block).empty()) << "there is less than it says";
  block.bytes = bytes;
  EXPECT_TRUE(state.apply(block).empty()) << "it changes what made no sense";
  block.change = {.parts = 7, .bytes = 416, .base = 0, .generation = 9, .present = 3};
  EXPECT_TRUE(state.apply(block).empty()) << "it is all that there is, and XMM is missing";
  block.change = {.parts = ~0u, .bytes = 416, .base = 0, .generation = 9, .present = ~uint64_t{0}};
  EXPECT_FALSE(state.apply(block).empty());
}

uint64_t xmm_in(size_t number, Bytes record, VectorState& state) {
  const auto [kind, area] = vectors_in(record, state);
  uint64_t half = 0;
  if (area.size() == kAreaBytes) std::memcpy(&half, &area[kXmmAt + number * 16], sizeof half);
  return half;
}

using Hit = void (*)(uint64_t);
Hit hit_in_between = nullptr;

/// A function that hits with its argument in %xmm3. In code of its own, since compilers, and
/// sanitizers more so, may use that register between any two statements.
Hit to_call(HitsHere& here, uint64_t body) {
  std::vector<uint8_t> code = {0x66, 0x48, 0x0f, 0x6e, 0xdf};  // movq %rdi, %xmm3
  std::ranges::copy(axjit::hit_slot(body), std::back_inserter(code));
  code.push_back(0xc3);  // ret
  const uint64_t slot = here.take(64);
  std::memcpy(reinterpret_cast<void*>(slot), code.data(), code.size());
  return reinterpret_cast<Hit>(slot);
}

/// The record of a fault may have to move behind that of a handler: where what is readable leaves
/// no room for the fault itself. How much that is depends on which registers are in use, so all of
/// it is tried.
TEST(FastVectors, HandlersDoNotNeedWhatMayStillMove) {
  HitsHere here({.rings = 1, .ring_bytes = 1 << 20});
  tell_changes(here);
  VectorState state(kParts, kX87AndSse);
  alignas(4096) static uint8_t page[2 * 4096];
  ASSERT_EQ(mprotect(page + 4096, 4096, PROT_NONE), 0);
  hit_in_between = to_call(here, here.add(2, {{}, kVectors}));
  hit_in_between(0);
  EXPECT_FALSE(vectors_in(here.records().at(0).blocks, state).second.empty());
  static uint64_t others;
  LoadTable::in_between = [] { hit_in_between(++others); };
  Registers registers;
  size_t in_place = 0, moved = 0;
  for (uint64_t readable = 8; readable < 1024; readable += 8) {
    const HitsHere::Step memory{.kind = TRACEWELL_STEP_MEMORY,
                                .value = reinterpret_cast<uint64_t>(page + 4096 - readable),
                                .bytes = readable + 1};
    const uint64_t faults = here.add(1, {{}, kVectors, memory}, {}, 1024);
    others = readable;
    registers.vector[6] = 10000 + readable;
    ASSERT_EQ(call_body(faults, registers), registers);
    const auto records = here.records();
    if (others == readable) continue;  // too large for a record, so nothing was read
    ASSERT_EQ(records.size(), 2U) << readable;
    for (const auto& record : records) {
      const uint64_t told = record.plan == 1 ? 10000 + readable : readable + 1;
      EXPECT_EQ(xmm_in(3, record.blocks, state), told) << readable;
    }
    EXPECT_NE(records[0].plan, records[1].plan);
    ++(records[0].plan == 1 ? in_place : moved);
  }
  EXPECT_GT(in_place, 0U);
  EXPECT_GT(moved, 0U);
  LoadTable::in_between = nullptr;
  mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE);
}

volatile uint64_t interrupts = 0, interrupts_unread = 0;
Hit hit_with_vectors = nullptr;
constexpr uint64_t kInHandler = 1000;
// Where to read a record takes longer than the timer waits, a ring would fill up otherwise.
constexpr uint64_t kUnread = 400;
void interrupted(int) {
  if (interrupts_unread >= kUnread) return;
  const int before = errno;
  interrupts_unread = interrupts_unread + 1;
  interrupts = interrupts + 1;
  hit_with_vectors(kInHandler + interrupts);
  errno = before;
}

TEST(FastVectors, HandlersMayHitInBetween) {
  HitsHere here({.rings = 8, .ring_bytes = 1 << 20});
  tell_changes(here);
  VectorState state(kParts, kX87AndSse);
  const uint64_t body = here.add(1, {{}, kVectors}, {}, 1024);
  hit_with_vectors = to_call(here, body);
  interrupts = 0;
  interrupts_unread = 0;
  std::signal(SIGALRM, interrupted);
  const timeval often{0, 50};
  const itimerval timer{often, often};
  setitimer(ITIMER_REAL, &timer, nullptr);
  uint64_t hits = 0, taken = 0;
  while (interrupts < 3000) {
    for (uint64_t i = 0; i < 20; ++i) {
      hit_with_vectors(i / 4);
      ++hits;
    }
    interrupts_unread = 0;
    for (const auto& record : here.records()) {
      ASSERT_EQ(xmm_in(3, record.blocks, state), Counting::number(record));
      ++taken;
    }
  }
  setitimer(ITIMER_REAL, std::array<itimerval, 1>{}.data(), nullptr);
  std::signal(SIGALRM, SIG_DFL);
  taken += here.records().size();
  EXPECT_EQ(taken, hits + interrupts);
}

}  // namespace
}  // namespace tracewell::fast
