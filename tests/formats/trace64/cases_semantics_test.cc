// Conformance cases 29 to 38: what the memory entries mean.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

using Kind = Step::MemoryAccess::Kind;
constexpr uint32_t kSp = 4, kBp = 5, kSi = 6, kDi = 7;
constexpr uint64_t kStack = 0x14f4a8;

std::string opcode(std::string_view hex) { return text_from_hex(hex).value(); }

uint64_t number(Bytes bytes) {
  return load_uint(bytes.data(), std::min<size_t>(bytes.size(), 8), Endian::Little);
}

/// One instruction with these registers and entries, and one behind it.
struct OneStep {
  OneStep(std::string_view hex, std::map<uint32_t, uint64_t> registers, std::vector<Entry> entries,
          bool wide = true, uint64_t pc_after = 0) {
    const uint32_t pc = wide ? 16 : 8;
    registers[pc] = 0x401000;
    RawBlock block = full_block(1, registers, wide);
    block.opcode = opcode(hex);
    block.entries = std::move(entries);
    RawBlock next;
    next.wide = wide;
    next.words = {{pc, pc_after ? pc_after : 0x401000 + block.opcode.size()}};
    bytes = head(wide ? kJson64 : kJson32) + block.bytes() + next.bytes();
    got = std::make_unique<ReadBack>(bytes);
    EXPECT_EQ(got->steps.size(), 2u);
    EXPECT_TRUE(rewritten(bytes) == bytes) << hex;
  }
  const Step& step() const { return got->steps.at(0); }
  /// The accesses without what is only near them.
  std::vector<Step::MemoryAccess> accesses() const {
    std::vector<Step::MemoryAccess> out;
    for (const auto& one : step().memory)
      if (one.kind != Kind::Nearby) out.push_back(one);
    return out;
  }
  std::string bytes;
  std::unique_ptr<ReadBack> got;
};

TEST(Trace64, Case29OverlappingMove) {
  // movsb: first the destination, then the source, four bytes further; both words change.
  const OneStep one("a4", {{kSi, 0x1004}, {kDi, 0x1000}},
                    {{0x1000, 0x44332211, 0x44332255, 0}, {0x1004, 0x55, 0x55, 0}});
  const auto accesses = one.accesses();
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_EQ(accesses[0].kind, Kind::Write);
  EXPECT_EQ(accesses[0].size, 1u);
  EXPECT_EQ(number(accesses[0].new_bytes), 0x55u);
  EXPECT_EQ(accesses[1].kind, Kind::Read);
  EXPECT_EQ(accesses[1].address, 0x1004u);
  EXPECT_TRUE(accesses[1].new_bytes.empty());
}

TEST(Trace64, Case30TailBeyondTheOperand) {
  // fld tbyte [rax]: the old content of the second word is cut to the operand, the new is not.
  const OneStep one("db28", {{0, 0x2000}},
                    {{0x2000, 0x1111, std::nullopt, 0}, {0x2008, 0x4000, 0xabcdef4000, 0}});
  ASSERT_EQ(one.accesses().size(), 1u);
  const auto access = one.accesses()[0];
  EXPECT_EQ(access.kind, Kind::Read);
  EXPECT_EQ(access.size, 10u);
  EXPECT_EQ(access.old_bytes.size(), 10u);
  EXPECT_TRUE(access.new_bytes.empty()) << "nothing was written";
  ASSERT_EQ(one.step().memory.size(), 2u);
  const auto& tail = one.step().memory[1];
  EXPECT_EQ(tail.address, 0x200au);
  EXPECT_EQ(tail.size, 6u);
  EXPECT_TRUE(tail.old_bytes.empty()) << "zeros there are none of the program's";
  EXPECT_EQ(number(tail.new_bytes.first(4)), 0xabcdefu);
}

/// Two pushes in a row and the two pops, as three generations of recorders write them. Memory is 1
/// at [sp], 2 below, 3 below that; 0x50 and 0x51 are pushed.
std::string pushes(int style) {
  auto push = [&](uint64_t sp, uint64_t at_sp, uint64_t below, uint64_t value) {
    RawBlock block = full_block(1, {{kSp, sp}, {0, value}, {16, 0x401000}});
    block.opcode = "\x50";
    const uint64_t old_word = style == 2 ? at_sp : below;
    if (style == 1) block.entries.push_back({sp, at_sp, std::nullopt, 0});
    block.entries.push_back({sp - 8, old_word, value, 0});
    return block.bytes();
  };
  RawBlock load = full_block(1, {{kSp, kStack}, {16, 0x401000}});
  load.opcode = opcode("488b0424");  // mov rax, [rsp]
  load.entries = {{kStack, 1, std::nullopt, 0}};
  RawBlock deeper = full_block(1, {{kSp, kStack}, {16, 0x401000}});
  deeper.opcode = opcode("488b4424f0");  // mov rax, [rsp - 16]
  deeper.entries = {{kStack - 16, 3, std::nullopt, 0}};
  return head(kJson64) + load.bytes() + deeper.bytes() + push(kStack, 1, 2, 0x50) +
         push(kStack - 8, 0x50, 3, 0x51);
}

TEST(Trace64, Case31PushInThreeStyles) {
  for (const int style : {0, 1, 2}) {
    ReadBack got(pushes(style));
    ASSERT_EQ(got.steps.size(), 4u);
    for (const size_t i : {2u, 3u}) {
      std::vector<Step::MemoryAccess> writes;
      for (const auto& one : got.steps[i].memory)
        if (one.kind != Kind::Nearby) writes.push_back(one);
      ASSERT_EQ(writes.size(), 1u) << style;
      EXPECT_EQ(writes[0].kind, Kind::Write);
      EXPECT_EQ(writes[0].address, kStack - 8 * (i - 1));
      EXPECT_EQ(number(writes[0].new_bytes), i == 2 ? 0x50u : 0x51u);
      if (style == 2) {
        EXPECT_TRUE(writes[0].old_bytes.empty()) << "what stands there is of another place";
      }
      else
        EXPECT_EQ(number(writes[0].old_bytes), i);
    }
    // (A dump for each step is not how x64dbg writes; the events are to be the same.)
    EXPECT_EQ(without_path(converted(rewritten(pushes(style)), "jsonl")),
              without_path(converted(pushes(style), "jsonl")));
  }
}

TEST(Trace64, Case32RepeatedMove) {
  std::string bytes = head(kJson64);
  for (uint64_t i = 0; i < 5; ++i) {
    RawBlock block = full_block(
        1, {{1, 5 - i}, {kSi, 0x1000 + 8 * i}, {kDi, 0x2000 + 8 * i}, {16, 0x401000}});
    block.opcode = opcode("f348a5");
    block.entries = {{0x2000 + 8 * i, 0, 7 + i, 0}, {0x1000 + 8 * i, 7 + i, std::nullopt, 0}};
    bytes += block.bytes();
  }
  ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 5u);
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(got.steps[i].pc, 0x401000u);
    ASSERT_EQ(got.steps[i].memory.size(), 2u);
    EXPECT_EQ(number(got.steps[i].memory[0].new_bytes), 7 + i) << "no fault: it repeats";
    EXPECT_EQ(got.steps[i].memory[1].kind, Kind::Read);
  }
}

TEST(Trace64, Case33VectorStore) {
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < 4; ++i) entries.push_back({0x3000 + 8 * i, i, i == 2 ? i : 90 + i, 0});
  entries[2].new_word.reset();
  const OneStep one("c5fe7f00", {{0, 0x3000}}, entries);
  ASSERT_EQ(one.step().memory.size(), 1u);
  const auto& access = one.step().memory[0];
  EXPECT_EQ(access.kind, Kind::Write);
  EXPECT_EQ(access.size, 32u);
  EXPECT_EQ(number(access.old_bytes.subspan(24)), 3u);
  EXPECT_EQ(number(access.new_bytes.subspan(24)), 93u);
  EXPECT_EQ(number(access.new_bytes.subspan(16)), 2u);
}

TEST(Trace64, Case34StateSaveIsIncomplete) {
  const OneStep one("0fae00", {{0, 0x4000}}, {{0x4000, 0, 0x37f, 0}});
  EXPECT_TRUE(one.step().memory_incomplete);
  ASSERT_EQ(one.step().memory.size(), 2u);
  EXPECT_EQ(one.step().memory[0].size, 8u) << "what is known of it";
  EXPECT_TRUE(one.step().memory[1].new_bytes.empty()) << "the rest, without its contents";
}

TEST(Trace64, Case35SegmentBase) {
  const OneStep one("65488b042560000000", {{0, 0}}, {{0x7ff000000060, 0x1234, std::nullopt, 0}});
  ASSERT_EQ(one.step().memory.size(), 1u);
  EXPECT_EQ(one.step().memory[0].address, 0x7ff000000060u);
  EXPECT_EQ(one.step().memory[0].kind, Kind::Read);
  EXPECT_FALSE(one.step().memory_incomplete);
  EXPECT_EQ(one.got->value(one.step().before, "gs_base"), 0x7ff000000000u);
  const OneStep narrow("64a118000000", {}, {{0x7ffd018, 0x55, std::nullopt, 0}}, false);
  EXPECT_EQ(narrow.step().memory[0].address, 0x7ffd018u);
  EXPECT_FALSE(narrow.step().memory_incomplete);
}

TEST(Trace64, Case36SelfModifyingCode) {
  RawBlock first = full_block(1, {{16, 0x401000}});
  RawBlock second = full_block(1, {{16, 0x401000}});
  second.opcode = "\xcc";
  ReadBack got(head(kJson64) + first.bytes() + second.bytes());
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(to_hex(got.steps[0].opcode), "90");
  EXPECT_EQ(to_hex(got.steps[1].opcode), "cc");
}

TEST(Trace64, Case37UndecodableOpcode) {
  const OneStep one("06", {}, {{0x10, 5, std::nullopt, 0}});
  EXPECT_EQ(to_hex(one.step().opcode), "06");
  ASSERT_EQ(one.step().memory.size(), 1u) << "kept as it is stored";
  EXPECT_TRUE(one.step().memory_incomplete);
}

TEST(Trace64, Case38FaultingAccess) {
  // mov [rax], rcx at an address that cannot be read; the handler comes next.
  const std::vector<Entry> entries = {{0x10, 0, 0xdeadbeef, 0}};
  const OneStep fault("488908", {{0, 0x10}}, entries, true, 0x77001234);
  ASSERT_EQ(fault.step().memory.size(), 1u);
  EXPECT_EQ(fault.step().memory[0].kind, Kind::Write);
  EXPECT_TRUE(fault.step().memory[0].old_bytes.empty());
  EXPECT_TRUE(fault.step().memory[0].new_bytes.empty());
  EXPECT_TRUE(fault.step().memory_incomplete);
  // mov rcx, [rax]: where nothing can be read the buffer may have held zeros, too.
  const OneStep load("488b08", {{0, 0x10}}, {{0x10, 0, std::nullopt, 0}}, true, 0x77001234);
  ASSERT_EQ(load.step().memory.size(), 1u);
  EXPECT_EQ(load.step().memory[0].kind, Kind::Read);
  EXPECT_TRUE(load.step().memory[0].old_bytes.empty());
  EXPECT_TRUE(load.step().memory_incomplete);
  const OneStep fine("488908", {{0, 0x10}}, entries);
  EXPECT_EQ(number(fine.step().memory[0].new_bytes), 0xdeadbeefu);
}

TEST(Trace64, StackSlotsOfShortAndLargePushes) {
  // push ax: two bytes, in the upper part of the word that is stored.
  const OneStep narrow("6650", {{kSp, 0x100}}, {{0xf8, 0x1111, 0x2222000000001111, 0}});
  ASSERT_EQ(narrow.accesses().size(), 1u);
  EXPECT_EQ(narrow.accesses()[0].address, 0xfeu);
  EXPECT_EQ(number(narrow.accesses()[0].new_bytes), 0x2222u);
  // pushad: what stands at [esp] is stored, what is written stands below.
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < 8; ++i) entries.push_back({0x1000 + 4 * i, i, std::nullopt, 0});
  const OneStep all("60", {{kSp, 0x1000}}, entries, false);
  ASSERT_EQ(all.accesses().size(), 1u);
  EXPECT_EQ(all.accesses()[0].address, 0xfe0u);
  EXPECT_EQ(all.accesses()[0].size, 32u);
  EXPECT_TRUE(all.accesses()[0].new_bytes.empty());
  EXPECT_TRUE(all.step().memory_incomplete);
  // pop [rsp + 8]: the address is that of the stack pointer behind the pop.
  const OneStep pop("8f442408", {{kSp, 0x100}},
                    {{0x108, 7, std::nullopt, 0}, {0x100, 9, std::nullopt, 0}});
  ASSERT_EQ(pop.accesses().size(), 2u);
  EXPECT_EQ(pop.accesses()[0].address, 0x110u);
  EXPECT_EQ(pop.accesses()[0].kind, Kind::Write);
  EXPECT_EQ(pop.accesses()[1].address, 0x100u);
  EXPECT_EQ(number(pop.accesses()[1].old_bytes), 9u);
  // leave, recorded before June 2024: no entry at all.
  const OneStep leave("c9", {{kBp, 0x200}, {kSp, 0x100}}, {});
  ASSERT_EQ(leave.accesses().size(), 1u);
  EXPECT_EQ(leave.accesses()[0].address, 0x200u);
  EXPECT_TRUE(leave.step().memory_incomplete);
}

TEST(Trace64, OperandsThatRegistersMove) {
  // xlat: one byte at rbx + al.
  const OneStep xlat("d7", {{0, 0x1105}, {3, 0x3000}}, {{0x3005, 0x11, std::nullopt, 0}});
  ASSERT_EQ(xlat.accesses().size(), 1u);
  EXPECT_EQ(xlat.accesses()[0].address, 0x3005u);
  EXPECT_EQ(xlat.accesses()[0].size, 1u);
  EXPECT_FALSE(xlat.step().memory_incomplete);
  // bts qword [rdx], rcx: the operand is what is recorded, and the bit is elsewhere.
  struct Bit {
    uint64_t offset, address;
  };
  for (const Bit& bit : {Bit{1000, 0x2078}, Bit{uint64_t(-1), 0x1ff8}}) {
    const OneStep bts("480fab0a", {{1, bit.offset}, {2, 0x2000}}, {{0x2000, 7, std::nullopt, 0}});
    ASSERT_EQ(bts.accesses().size(), 1u);
    EXPECT_EQ(bts.accesses()[0].address, bit.address);
    EXPECT_EQ(bts.accesses()[0].kind, Kind::ReadWrite);
    EXPECT_TRUE(bts.accesses()[0].old_bytes.empty());
    EXPECT_TRUE(bts.step().memory_incomplete);
  }
  const OneStep inside("480fab0a", {{1, 63}, {2, 0x2000}}, {{0x2000, 7, 9, 0}});
  EXPECT_EQ(inside.accesses().at(0).address, 0x2000u);
  EXPECT_EQ(number(inside.accesses().at(0).new_bytes), 9u);
}

TEST(Trace64, InstructionsThatTouchLessThanTheyName) {
  // rep movsd, nothing left to do.
  const OneStep idle("f3a5", {{1, 0}, {kSi, 0x1000}, {kDi, 0x2000}},
                     {{0x2000, 1, std::nullopt, 0}, {0x1000, 2, std::nullopt, 0}});
  EXPECT_TRUE(idle.accesses().empty());
  EXPECT_EQ(idle.step().memory.size(), 2u) << "what stands there is known all the same";
  EXPECT_FALSE(idle.step().memory_incomplete);
  const OneStep narrow("67f3aa", {{1, 0x100000000}, {kDi, 0x2000}}, {{0x2000, 1, std::nullopt, 0}});
  EXPECT_TRUE(narrow.accesses().empty()) << "ecx counts";
  // prefetcht0 [rdx], prefetchw [rdx]
  for (const char* hex : {"0f180a", "0f0d0a"}) {
    const OneStep prefetch(hex, {{2, 0x2000}}, {{0x2000, 7, std::nullopt, 0}});
    EXPECT_TRUE(prefetch.accesses().empty());
    EXPECT_EQ(prefetch.step().memory.size(), 1u);
    EXPECT_FALSE(prefetch.step().memory_incomplete);
  }
  // vmovdqu32 [rdx]{k1}, zmm0 and vpmaskmovd [rdx], ymm1, ymm0
  for (const char* hex : {"62f17e497f02", "c4e2758e02"}) {
    std::vector<Entry> entries;
    for (uint64_t i = 0; i < (hex[0] == '6' ? 8 : 4); ++i)
      entries.push_back({0x2000 + 8 * i, i, std::nullopt, 0});
    const OneStep masked(hex, {{2, 0x2000}}, entries);
    EXPECT_TRUE(masked.step().memory_incomplete) << hex;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
