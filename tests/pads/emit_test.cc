#include "pads/emit.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "machine/code_instruction.h"
#include "pads/program.h"

namespace tracewell::pads {
namespace {

using Bytes8 = std::vector<uint8_t>;

Plan plan_of(uint64_t pad, std::vector<Moved> moved) {
  Plan plan;
  plan.site = moved.front().address;
  plan.kind = Kind::Several;
  Jump jump;
  jump.at = plan.site;
  jump.pad = pad;
  jump.pad_bytes = 512;
  jump.moved = std::move(moved);
  plan.jumps.push_back(jump);
  return plan;
}

TEST(Emit, SlotsCopiesAndTheWayBack) {
  // push rbp; mov rbp, rsp
  const Code code = Program{{0x55, 0x48, 0x89, 0xe5, 0x90}}.code();
  const uint64_t pad_at = kAt + 0x10000;
  const Plan plan = plan_of(pad_at, {{kAt, 1}, {kAt + 1, 3}});
  const Bytes8 first = {0x90, 0x90}, second = {0x66, 0x90}, other = {0xcc};
  const auto pad = emit(code, plan, 0,
                        std::vector<Slot>{{kAt + 1, second}, {kAt, first}, {kAt + 4, other}});
  ASSERT_TRUE(pad.ok());
  // A nop of 5 bytes in front of the second slot; back from pad + 18 to kAt + 4.
  EXPECT_EQ(pad->code, (Bytes8{0x90, 0x90, 0x55, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x90, 0x48,
                               0x89, 0xe5, 0xe9, 0xf2, 0xff, 0xfe, 0xff}));
  const PadPoint* slot = pad->find(pad_at + 1);
  ASSERT_NE(slot, nullptr);
  EXPECT_TRUE(slot->slot);
  EXPECT_EQ(slot->site, kAt);
  EXPECT_EQ(slot->pc, kAt);
  EXPECT_FALSE(pad->find(pad_at + 2)->slot);
  EXPECT_EQ(pad->find(pad_at + 4)->site, kAt + 1);
  EXPECT_EQ(pad->find(pad_at + 9)->site, kAt + 1);
  EXPECT_EQ(pad->find(pad_at + 13)->pc, kAt + 4);
  EXPECT_EQ(pad->find(pad_at - 1), nullptr);
  EXPECT_EQ(pad->find(pad_at + pad->code.size()), nullptr);
  EXPECT_EQ(pad->copy_of(kAt), pad_at + 2);
  EXPECT_EQ(pad->copy_of(kAt + 1), pad_at + 10);
  EXPECT_EQ(pad->copy_of(kAt + 2), std::nullopt);
  EXPECT_EQ(pad->entry_of(kAt), pad_at);
  EXPECT_EQ(pad->entry_of(kAt + 1), pad_at + 3);
  EXPECT_EQ(pad->entry_of(kAt + 4), std::nullopt);  // it is behind, not in it
}

/// Whatever bytes of a pad's address are given.
TEST(Emit, SlotsStandAtMultiplesOfEight) {
  const Code code = Program{{0x55, 0x48, 0x89, 0xe5, 0x90}}.code();
  const Bytes8 bytes = {0xab, 0xcd, 0xef};
  for (uint64_t odd = 0; odd < 8; ++odd) {
    const uint64_t pad_at = kAt + 0x10000 + odd;
    const auto pad = emit(code, plan_of(pad_at, {{kAt, 1}, {kAt + 1, 3}}), 0,
                          std::vector<Slot>{{kAt, bytes}, {kAt + 1, bytes}});
    ASSERT_TRUE(pad.ok());
    size_t found = 0;
    for (auto at = pad->code.begin(); ; ++at, ++found) {
      at = std::search(at, pad->code.end(), bytes.begin(), bytes.end());
      if (at == pad->code.end()) break;
      const uint64_t address = pad_at + (at - pad->code.begin());
      EXPECT_EQ(address % kSlotAlignment, 0U);
      EXPECT_TRUE(pad->find(address)->slot);
      const uint64_t entry = *pad->entry_of(found == 0 ? kAt : kAt + 1);
      const Bytes nop = Bytes(pad->code).subspan(entry - pad_at, address - entry);
      EXPECT_TRUE(nop.empty() || machine::decode_code(nop, entry).length == nop.size());
    }
    EXPECT_EQ(found, 2U);
  }
}

TEST(Emit, BranchesInTheMiddleFallThrough) {
  // je +0x20; loop +0x20; nop
  const Code code = Program{{0x74, 0x20, 0xe2, 0x20, 0x90}}.code();
  const uint64_t pad_at = kAt + 0x1000;
  const Plan plan = plan_of(pad_at, {{kAt, 2}, {kAt + 2, 2}, {kAt + 4, 1}});
  const auto pad = emit(code, plan, 0, {});
  ASSERT_TRUE(pad.ok());
  const Bytes8 expected = {0x0f, 0x84, 0x1c, 0xf0, 0xff, 0xff,  // je kAt + 0x22
                           0xe2, 0x05,                          // loop over the next jump
                           0xe9, 0x05, 0,    0,    0,           // to the nop
                           0xe9, 0x12, 0xf0, 0xff, 0xff,        // jmp kAt + 0x24
                           0x90, 0xe9, 0xed, 0xef, 0xff, 0xff};
  EXPECT_EQ(pad->code, expected);
  EXPECT_EQ(pad->find(pad_at + 13)->pc, kAt + 0x24);
  EXPECT_EQ(pad->copy_of(kAt + 4), pad_at + 18);
}

TEST(Emit, AThreadThatHasPushedHalfAReturnAddress) {
  const Code code = Program{{0xe8, 0, 1, 0, 0}}.code();
  const Plan plan = plan_of(kAt + 0x1000, {{kAt, 5}});
  const auto pad = emit(code, plan, 0, {});
  ASSERT_TRUE(pad.ok());
  ASSERT_EQ(pad->points.size(), 3u);
  EXPECT_EQ(pad->points[1].sp_undo, 8);
  EXPECT_EQ(pad->points[1].pc, kAt);
  EXPECT_EQ(pad->points[2].pc, kAt + 5 + 0x100);
}

TEST(Emit, ItsLengthDoesNotDependOnThePlace) {
  const Code code = Program{{0xe8, 0, 1, 0, 0}}.code();
  for (const uint64_t at : {kAt - 0x7000'0000, kAt + 0x7000'0000})
    EXPECT_EQ(emit(code, plan_of(at, {{kAt, 5}}), 0, {})->code.size(), 18u);
}

TEST(Emit, WhatDoesNotFit) {
  const Code code = Program{{0x55, 0x48, 0x89, 0xe5, 0x90}}.code();
  Plan plan = plan_of(kAt + 0x1000, {{kAt, 1}, {kAt + 1, 3}});
  plan.jumps[0].pad_bytes = 8;
  EXPECT_FALSE(emit(code, plan, 0, {}).ok());
  plan.jumps[0].pad_bytes = 9;
  EXPECT_TRUE(emit(code, plan, 0, {}).ok());
  plan.jumps[0].pad = kAt + (uint64_t{3} << 30);
  EXPECT_FALSE(emit(code, plan, 0, {}).ok());
}

}  // namespace
}  // namespace tracewell::pads
