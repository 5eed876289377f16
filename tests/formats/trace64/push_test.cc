// Whose content the old one of a push is, session by session; and what is shown when nobody knows.
#include <gtest/gtest.h>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

using Kind = Step::MemoryAccess::Kind;
constexpr uint32_t kSpWord = 4, kPc = 16;
constexpr uint64_t kPushStack = 0x7ff000;

enum class Era { Before2024, Since2024 };

/// Pushes and pops one after the other, as recorders of that time write them.
std::string session(Era era, size_t steps) {
  std::map<uint64_t, uint64_t> memory;
  std::vector<Moment> moments;
  Moment now;
  now.words.resize(172);
  now.words[kSpWord] = kPushStack;
  now.words[15] = era == Era::Since2024;  // nobody touches r15
  for (size_t i = 0; i <= steps; ++i) {
    const bool pops = i % 4 >= 2;
    const uint64_t sp = now.words[kSpWord], slot = sp - 8;
    now.words[kPc] = 0x401000 + i;
    now.words[0] = 0x1111 * (i + 1);
    now.opcode = pops ? "\x5b" : "\x50";
    const auto at = [&](uint64_t address) {
      return memory.try_emplace(address, 0xabc0000 + address).first->second;
    };
    if (pops)
      now.entries = {{sp, at(sp), std::nullopt, 0}};
    else
      now.entries = {{slot, at(era == Era::Before2024 ? slot : sp), now.words[0], 0}};
    moments.push_back(now);
    if (pops) {
      now.words[3] = memory[sp];
      now.words[kSpWord] += 8;
    } else {
      memory[slot] = now.words[0];
      now.words[kSpWord] = slot;
    }
  }
  return record(moments, {});
}

/// Of each push: 's' the slot's old content is shown, 't' that of [sp] beside it, '?' neither.
std::string shown(const ReadBack& got) {
  std::string out;
  for (const Step& step : got.steps) {
    if (to_hex(step.opcode) != "50") continue;
    char what = '?';
    for (const auto& one : step.memory) {
      if (one.kind == Kind::Write && !one.old_bytes.empty()) what = 's';
      if (one.kind == Kind::Nearby) what = 't';
    }
    out += what;
  }
  return out;
}

std::string recorder(const ReadBack& got) {
  for (const auto& [key, value] : got.opened.source->summary()->facts())
    if (key == "recorder") return value;
  return "";
}

TEST(Trace64, EachSessionHasItsOwnRecorder) {
  const std::string before = session(Era::Before2024, 40), since = session(Era::Since2024, 40);
  const ReadBack first(head(kJson64) + before + since);
  ASSERT_EQ(first.sessions, std::vector<uint64_t>{40});
  EXPECT_EQ(shown(first), std::string(20, 's') + std::string(20, 't'));
  const ReadBack second(head(kJson64) + since + before);
  EXPECT_EQ(shown(second), std::string(20, 't') + std::string(20, 's'));
  EXPECT_EQ(recorder(second), "x64dbg, sessions of before and since June 2024");
  // Whoever begins in the middle is told the same.
  auto later = second.opened.source->steps()->open_at(40);
  ASSERT_TRUE(later.ok());
  Batch batch;
  ASSERT_TRUE((*later)->next(batch).ok());
  EXPECT_FALSE(std::get<Step>(batch.events()[0].body).memory[0].old_bytes.empty());
}

/// Two pushes of different registers; `second` is stored as the second one's old content.
std::string two_pushes(uint64_t second) {
  RawBlock one = full_block(4, {{0, 0x2a}, {3, 7}, {kSpWord, kPushStack}, {kPc, 0x401000}});
  one.opcode = "\x50";
  one.entries = {{kPushStack - 8, 0x170000, 0x2a, 0}};
  RawBlock two;
  two.words = {{kSpWord, kPushStack - 8}, {kPc, 0x401001}};
  two.opcode = "\x50";
  two.entries = {{kPushStack - 16, second, 7, 0}};
  RawBlock three;
  three.words = {{kSpWord, kPushStack - 16}, {kPc, 0x401002}};
  return head(kJson64) + one.bytes() + two.bytes() + three.bytes();
}

TEST(Trace64, WhatIsKnownOfTheTopSpeaksAgainstIt) {
  // [sp] is 0x2a by the first push, so what stands with the second is something else.
  EXPECT_EQ(shown(ReadBack(two_pushes(0x99))), "ss");
  EXPECT_EQ(shown(ReadBack(two_pushes(0x2a))), "tt");
}

TEST(Trace64, UndecidedPushesShowNoOldContent) {
  RawBlock one = full_block(4, {{kSpWord, kPushStack}, {kPc, 0x401000}});
  one.opcode = "\x50";
  one.entries = {{kPushStack - 8, 0x170000, 0x2a, 0}};
  RawBlock two;
  two.words = {{kSpWord, kPushStack - 8}, {kPc, 0x401001}};
  const std::string bytes = head(kJson64) + one.bytes() + two.bytes();
  const ReadBack got(bytes);
  EXPECT_EQ(shown(got), "?");
  ASSERT_EQ(got.steps[0].memory.size(), 1u);
  EXPECT_EQ(to_hex(got.steps[0].memory[0].new_bytes), "2a00000000000000");
  EXPECT_EQ(recorder(got), "x64dbg, not known when");
  EXPECT_EQ(rewritten(bytes), bytes) << "it is kept all the same";
}

TEST(Trace64, ZerosAreNoSign) {
  // Both are zero, as most of memory is, and only one of them was ever seen.
  RawBlock one = full_block(4, {{kSpWord, kPushStack}, {kPc, 0x401000}});
  one.opcode = text_from_hex("488b0424").value();  // mov rax, [rsp]
  one.entries = {{kPushStack, 0, std::nullopt, 0}};
  RawBlock two;
  two.words = {{kPc, 0x401004}};
  two.opcode = "\x50";
  two.entries = {{kPushStack - 8, 0, 0x2a, 0}};
  EXPECT_EQ(shown(ReadBack(head(kJson64) + one.bytes() + two.bytes())), "?");
}

/// Pushes of which nothing but the entries tells where the stack is.
std::string pushes_without_sp(Era era, size_t count, bool wide = true) {
  const uint64_t word = wide ? 8 : 4;
  std::string out = head(wide ? kJson64 : kJson32);
  uint64_t top = 0x170000;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t slot = kPushStack - word * (i + 1);
    RawBlock one;
    one.wide = wide;
    one.words = {{0, 0x1111 * (i + 1)}, {wide ? kPc : 8, 0x401000 + i}};
    one.opcode = "\x50";
    one.entries = {{slot, era == Era::Before2024 ? 0xabc0000 + slot : top, 0x1111 * (i + 1), 0}};
    top = 0x1111 * (i + 1);
    out += one.bytes();
  }
  return out;
}

TEST(Trace64, PushesWhoseStackPointerIsNotKnown) {
  for (const bool wide : {true, false}) {
    const uint64_t word = wide ? 8 : 4;
    // [sp] is what the push before has put there.
    const std::string bytes = pushes_without_sp(Era::Since2024, 10, wide);
    const ReadBack got(bytes);
    EXPECT_EQ(shown(got), std::string(10, 't'));
    ASSERT_EQ(got.steps[4].memory.size(), 2u);
    EXPECT_EQ(got.steps[4].memory[0].kind, Kind::Write);
    EXPECT_EQ(got.steps[4].memory[0].address, kPushStack - 5 * word);
    EXPECT_EQ(got.steps[4].memory[1].address, kPushStack - 4 * word);
    EXPECT_FALSE(got.steps[4].memory_incomplete);
    EXPECT_EQ(shown(ReadBack(rewritten(bytes))), std::string(10, 't'));
    const std::string alone = pushes_without_sp(Era::Since2024, 1, wide);
    EXPECT_EQ(shown(ReadBack(alone)), "?");
    EXPECT_EQ(shown(ReadBack(rewritten(alone))), "?");
  }
  // What the push before has put there is something else.
  EXPECT_EQ(shown(ReadBack(pushes_without_sp(Era::Before2024, 10))), std::string(10, 's'));
}

/// They had both entries for some days, and `push [rsp]` always has.
TEST(Trace64, TwoEntriesOfAPushWhoseStackPointerIsNotKnown) {
  RawBlock both;
  both.words = {{0, 0x2a}, {kPc, 0x401000}};
  both.opcode = "\x50";
  both.entries = {{kPushStack, 0x99, std::nullopt, 0}, {kPushStack - 8, 0x170000, 0x2a, 0}};
  const ReadBack first(head(kJson64) + both.bytes());
  ASSERT_EQ(first.steps[0].memory.size(), 2u);
  EXPECT_EQ(first.steps[0].memory[0].kind, Kind::Nearby);
  EXPECT_EQ(to_hex(first.steps[0].memory[1].old_bytes), "0000170000000000");
  EXPECT_EQ(recorder(first), "x64dbg, June 2024");
  for (const bool known : {true, false}) {
    RawBlock top;
    top.words = {{kPc, 0x401000}};
    if (known) top.words.insert(top.words.begin(), {kSpWord, kPushStack});
    top.opcode = text_from_hex("ff3424").value();  // push [rsp]
    top.entries = {{kPushStack, 0x99, std::nullopt, 0}, {kPushStack - 8, 0x98, 0x99, 0}};
    const ReadBack second(head(kJson64) + top.bytes());
    ASSERT_EQ(second.steps[0].memory.size(), 2u);
    EXPECT_EQ(second.steps[0].memory[0].kind, Kind::Read);
    EXPECT_TRUE(second.steps[0].memory[1].old_bytes.empty()) << "nothing tells which";
    EXPECT_EQ(recorder(second), "x64dbg, not known when");
  }
}

TEST(Trace64, NoAddressIsMadeUpWhereTheStackPointerIsNotKnown) {
  for (const char* opcode : {"50", "58", "c3", "60", "c8100000", "8b00", "c9"}) {
    RawBlock one;
    one.wide = false;
    one.words = {{8, 0x401000}};
    one.opcode = text_from_hex(opcode).value();
    const ReadBack got(head(kJson32) + one.bytes());
    EXPECT_TRUE(got.steps[0].memory.empty()) << opcode;
    EXPECT_TRUE(got.steps[0].memory_incomplete) << opcode;
  }
}

/// An entry that fits no operand is shown as it is stored, but for what a push's need not be.
TEST(Trace64, OldContentsOfPushesThatFitNothing) {
  RawBlock one = full_block(4, {{kSpWord, 0x1234}, {kPc, 0x401000}});
  one.opcode = "\x50";
  one.entries = {{kPushStack - 8, 0x170000, 0x2a, 0}};
  const ReadBack got(head(kJson64) + one.bytes());
  ASSERT_EQ(got.steps[0].memory.size(), 1u);
  EXPECT_TRUE(got.steps[0].memory_incomplete);
  EXPECT_TRUE(got.steps[0].memory[0].old_bytes.empty());
  EXPECT_EQ(to_hex(got.steps[0].memory[0].new_bytes), "2a00000000000000");
}

}  // namespace
}  // namespace tracewell::formats::test
