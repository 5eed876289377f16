#include "machine/operands.h"

#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"

namespace tracewell::machine {
namespace {

class OperandsTest : public ::testing::Test {
 protected:
  const Instruction& decode(std::string_view hex, bool wide = true) {
    opcode_ = from_hex(hex).value();
    return (wide ? wide_ : narrow_).decode(opcode_);
  }
  InstructionDecoder wide_{true};
  InstructionDecoder narrow_{false};
  std::vector<uint8_t> opcode_;
};

TEST_F(OperandsTest, SizeDirectionAndAddress) {
  const Instruction load = decode("8b448b10");  // mov eax, [rbx + rcx * 4 + 0x10]
  ASSERT_EQ(load.count, 1);
  EXPECT_EQ(load.memory[0].size, 4u);
  EXPECT_TRUE(load.memory[0].reads);
  EXPECT_FALSE(load.memory[0].writes);
  AddressState state;
  state.general[3] = 0x1000;
  state.general[1] = 3;
  EXPECT_EQ(effective_address(load.memory[0], state, load.length), 0x101cu);

  const Instruction add = decode("4801442408");  // add [rsp + 8], rax
  ASSERT_EQ(add.count, 1);
  EXPECT_TRUE(add.memory[0].reads && add.memory[0].writes);
  EXPECT_EQ(add.memory[0].base, 4);

  const Instruction relative = decode("488b0d10000000");  // mov rcx, [rip + 0x10]
  state.pc = 0x400000;
  EXPECT_EQ(effective_address(relative.memory[0], state, relative.length), 0x400017u);
}

TEST_F(OperandsTest, SegmentsAndShortAddresses) {
  const Instruction teb = decode("65488b042560000000");  // mov rax, gs:[0x60]
  ASSERT_EQ(teb.count, 1);
  EXPECT_EQ(teb.memory[0].segment, MemoryOperand::Segment::Gs);
  EXPECT_EQ(teb.memory[0].displacement, 0x60);
  const Instruction old_teb = decode("64a118000000", false);  // mov eax, fs:[0x18]
  ASSERT_EQ(old_teb.count, 1);
  EXPECT_EQ(old_teb.memory[0].segment, MemoryOperand::Segment::Fs);
  const Instruction high = decode("8b40ff", false);  // mov eax, [eax - 1]
  AddressState state;
  EXPECT_EQ(effective_address(high.memory[0], state, high.length), 0xffffffffu);
}

TEST_F(OperandsTest, StackSlotsAreHiddenOperands) {
  const Instruction push = decode("50");
  EXPECT_EQ(push.stack, Instruction::Stack::Push);
  ASSERT_EQ(push.count, 1);
  EXPECT_TRUE(push.memory[0].hidden && push.memory[0].writes);
  EXPECT_EQ(push.stack_bytes, 8u);
  EXPECT_EQ(decode("6650").stack_bytes, 2u);
  EXPECT_EQ(decode("50", false).stack_bytes, 4u);
  const Instruction call = decode("e800000000");
  EXPECT_EQ(call.stack, Instruction::Stack::Call);
  EXPECT_TRUE(call.branches);
  EXPECT_EQ(decode("c3").stack, Instruction::Stack::Return);
  EXPECT_EQ(decode("58").stack, Instruction::Stack::Pop);
  EXPECT_EQ(decode("c9").stack, Instruction::Stack::Leave);
  EXPECT_EQ(decode("c8100000").stack, Instruction::Stack::Enter);
  EXPECT_EQ(decode("60", false).stack, Instruction::Stack::PushAll);
  EXPECT_EQ(decode("60", false).memory[0].size, 32u);
}

TEST_F(OperandsTest, StringsAndLargeOperands) {
  const Instruction copy = decode("f348a5");  // rep movsq
  ASSERT_EQ(copy.count, 2);
  EXPECT_TRUE(copy.repeats);
  EXPECT_TRUE(copy.memory[0].writes);
  EXPECT_EQ(copy.memory[0].base, 7);
  EXPECT_TRUE(copy.memory[1].reads);
  EXPECT_EQ(copy.memory[1].base, 6);
  EXPECT_EQ(decode("db28").memory[0].size, 10u);             // fld tbyte [rax]
  EXPECT_EQ(decode("c5fe7f00").memory[0].size, 32u);         // vmovdqu [rax], ymm0
  EXPECT_EQ(decode("0fae00").memory[0].size, 512u);          // fxsave [rax]
}

TEST_F(OperandsTest, NotEverythingIsAnAccess) {
  EXPECT_EQ(decode("488d4310").count, 0);    // lea rax, [rbx + 0x10]
  EXPECT_EQ(decode("0f1f440000").count, 0);  // nop [rax + rax]
  EXPECT_EQ(decode("90").length, 1);
  EXPECT_EQ(decode("06").length, 0) << "push es is no 64-bit instruction";
  EXPECT_EQ(decode("8b").length, 0);
  EXPECT_TRUE(decode("ebfe").branches);
  EXPECT_TRUE(decode("0f05").branches);
}

// One that begins like another, ends like it or is as long must not be taken for it.
TEST_F(OperandsTest, WhatIsRememberedIsThatOfTheSameBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    // mov eax, [rbx + displacement] behind up to eight prefixes.
    std::vector<uint8_t> bytes(random() % 9, 0x3e);
    bytes.insert(bytes.end(), {0x8b, 0x83});
    uint8_t displacement[4] = {1, 2, 3, 4};
    displacement[random() % 4] = static_cast<uint8_t>(random() % 8);
    bytes.insert(bytes.end(), std::begin(displacement), std::end(displacement));
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Instruction known = wide_.decode(bytes);
    InstructionDecoder anew(true);
    const Instruction& wanted = anew.decode(bytes);
    ASSERT_EQ(known.length, wanted.length) << round;
    ASSERT_EQ(known.count, wanted.count);
    ASSERT_EQ(known.memory[0].displacement, wanted.memory[0].displacement) << round;
  }
}

}  // namespace
}  // namespace tracewell::machine
