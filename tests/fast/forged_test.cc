// Areas that somebody else writes over: a fork of the program has them mapped, too. Wherever that
// is, hits leave what is not their ring's as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fast/counting.h"

namespace tracewell::fast {
namespace {

constexpr uint64_t kRingBytes = 1 << 20;

/// One ring is this thread's, the first; the other one is nobody's.
class Forged : public ::testing::Test {
 protected:
  Forged() {
    uint64_t base = 0;
    __asm__("mov %%fs:0, %0" : "=r"(base));
    at<tracewell_frame_ring>(here_.shape().rings_offset())[1].owner = 0x1000;
    const RingPlace place = claim_ring(here_.memory(), here_.shape(), base, 1);
    EXPECT_EQ(place.ring, 0U);
    EXPECT_FALSE(place.is_shared);
    at<tracewell_frame_ring>(here_.shape().rings_offset())[1].owner = 0;
  }

  template <class T>
  T* at(uint64_t offset) {
    return reinterpret_cast<T*>(here_.memory().data() + offset);
  }
  tracewell_frame_ring& ring() {
    return *at<tracewell_frame_ring>(here_.shape().rings_offset());
  }
  /// Of what hits of the first ring do not have to do with.
  std::span<uint8_t> others_commits() {
    const uint64_t bytes = here_.shape().cells() * sizeof(uint32_t);
    return {at<uint8_t>(here_.shape().commit_offset() + bytes), bytes};
  }
  std::span<uint8_t> others_data() {
    return {at<uint8_t>(here_.shape().data_offset() + kRingBytes), kRingBytes};
  }
  void expect_others_are_untouched(uint64_t where) {
    const auto is_zero = [](uint8_t byte) { return byte == 0; };
    ASSERT_TRUE(std::ranges::all_of(others_commits(), is_zero)) << std::hex << where;
    ASSERT_TRUE(std::ranges::all_of(others_data().first(1 << 16), is_zero)) << std::hex << where;
  }
  void call(uint64_t body) {
    const uint64_t slot = here_.take(64);
    const auto code = axjit::hit_slot(body);
    std::memcpy(reinterpret_cast<void*>(slot), code.data(), code.size());
    *reinterpret_cast<uint8_t*>(slot + code.size()) = 0xc3;  // ret
    reinterpret_cast<void (*)(uint64_t)>(slot)(1);
  }

  HitsHere here_{{.rings = 2, .ring_bytes = kRingBytes}};
};

TEST_F(Forged, WhatTheAreaSaysOfItselfDecidesNothing) {
  const uint64_t body = here_.add(1, {{}});
  tracewell_area& area = here_.area();
  for (const uint64_t lie : {uint64_t{0}, uint64_t{0x123456789000}, ~uint64_t{0}}) {
    area.bytes = area.threads_offset = area.rings_offset = area.commit_offset = lie;
    area.data_offset = lie;
    area.threads = area.rings = area.shared_rings = area.ring_bytes = static_cast<uint32_t>(lie);
    call(body);
    const auto records = here_.records();
    ASSERT_EQ(records.size(), 1U) << std::hex << lie;
    EXPECT_EQ(Counting::number(records[0]), 1U);
  }
}

/// The largest records, and one with a fault, which is written again with ten bytes more.
TEST_F(Forged, AHeadLeadsNowhereElse) {
  std::vector<uint8_t> reads_nowhere = {0x22, 1, 0x1a, 0x27};  // const8 1, ref64, end
  const HitsHere::Step fault{.kind = TRACEWELL_STEP_EXPRESSION, .code = reads_nowhere};
  std::vector<uint8_t> source(1 << 16, 0xee);
  const auto memory = [&](uint64_t bytes) {
    return HitsHere::Step{.kind = TRACEWELL_STEP_MEMORY,
                          .value = reinterpret_cast<uint64_t>(source.data()),
                          .bytes = bytes};
  };
  constexpr uint64_t kHead = 11, kBlock = 0xffff;
  constexpr uint64_t kRest = TRACEWELL_RECORD_MAX - sizeof(tracewell_frame_record) -
                             3 * (kHead + kBlock) - kHead;
  const uint64_t whole = here_.add(1, {memory(kBlock), memory(kBlock), memory(kBlock),
                                       memory(kRest), fault}, {}, TRACEWELL_RECORD_MAX);
  std::mt19937_64 random(5);
  std::vector<uint64_t> heads = {kRingBytes - 1, kRingBytes - 1 - TRACEWELL_RECORD_MAX,
                                 ~uint64_t{0}, ~uint64_t{0} - TRACEWELL_RECORD_MAX};
  for (int i = 0; i < 20; ++i) heads.push_back(random());
  for (const uint64_t head : heads) {
    ring().head = head;
    ring().tail = ring().origin = head - TRACEWELL_CELL;
    call(whole);
    EXPECT_GE(ring().head - head, 2 * uint64_t{TRACEWELL_CELL}) << std::hex << head;
    expect_others_are_untouched(head);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tracewell::fast
