// The edges that depend on a size: longest expression, deepest stack, budget, buffers for text.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ax/disassemble.h"
#include "recording_host.h"

namespace tracewell::ax {
namespace {

std::vector<uint8_t> pushes(size_t count) {
  std::vector<uint8_t> code;
  for (size_t i = 0; i < count; ++i) code.insert(code.end(), {0x22, static_cast<uint8_t>(i)});
  code.push_back(0x27);
  return code;
}

TEST(AxLimits, StackHoldsAsManyAsItSays) {
  RecordingHost host;
  const auto full = pushes(kStackSlots);
  const VerifyResult verdict = verify(full, Purpose::Condition);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.stack_max, kStackSlots);
  EXPECT_EQ(run(full, host).value, kStackSlots - 1);

  const auto over = pushes(kStackSlots + 1);
  EXPECT_EQ(verify(over, Purpose::Condition).fault, Fault::StackOverflow);
  EXPECT_EQ(verify(over, Purpose::Condition).offset, 2 * kStackSlots);
  const Outcome outcome = run(over, host);
  EXPECT_EQ(outcome.fault, Fault::StackOverflow);
  EXPECT_EQ(outcome.offset, 2 * kStackSlots);
}

TEST(AxLimits, PrintfTakesAsManyArgumentsAsFit) {
  RecordingHost host;
  auto code = pushes(kStackSlots);
  code.pop_back();
  code.insert(code.end(), {0x34, kStackSlots - 2, 0, 2, 'x', 0, 0x27});
  EXPECT_TRUE(verify(code, Purpose::Action).ok());
  EXPECT_TRUE(run(code, host).ok());
  ASSERT_EQ(host.log.size(), 1u);
  EXPECT_TRUE(host.log[0].starts_with("print 0x63 0x62 \"x\" 0x61 0x60 ")) << host.log[0];
  code[code.size() - 6] = kStackSlots - 1;
  EXPECT_EQ(verify(code, Purpose::Action).fault, Fault::StackUnderflow);
  EXPECT_EQ(run(code, host).fault, Fault::StackUnderflow);
}

TEST(AxLimits, LongestExpression) {
  std::vector<uint8_t> code(kCodeBytesMax, 0x27);
  EXPECT_TRUE(verify(code, Purpose::Action).ok());
  code.push_back(0x27);
  const VerifyResult verdict = verify(code, Purpose::Action);
  EXPECT_EQ(verdict.fault, Fault::TooLong);
  char text[64];
  describe(verdict, text, sizeof text);
  EXPECT_STREQ(text, "expression too long");
}

TEST(AxLimits, MostBranchesThatFit) {
  // const8, if_goto to the end, again and again: every branch is put aside before one is walked.
  std::vector<uint8_t> code;
  while (code.size() + 5 < kCodeBytesMax) {
    const size_t target = code.size() + 5;
    code.insert(code.end(),
                {0x22, 1, 0x20, static_cast<uint8_t>(target >> 8), static_cast<uint8_t>(target)});
  }
  code.push_back(0x27);
  EXPECT_TRUE(verify(code, Purpose::Action).ok());
}

TEST(AxLimits, BudgetCountsInstructions) {
  RecordingHost host;
  const auto code = pushes(9);  // and an end
  EXPECT_TRUE(run(code, host, 10).ok());
  const Outcome outcome = run(code, host, 9);
  EXPECT_EQ(outcome.fault, Fault::BudgetExceeded);
  EXPECT_EQ(outcome.offset, 18u);
  EXPECT_FALSE(outcome.has_value);
}

TEST(AxLimits, TextIsCutToItsBuffer) {
  const std::vector<uint8_t> code = {0x25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  Instruction instruction;
  ASSERT_EQ(decode(code, 0, instruction), Fault::None);
  char buffer[64];
  const std::string whole = "const64 18446744073709551615";
  for (size_t size = 0; size < sizeof buffer; ++size) {
    std::memset(buffer, '#', sizeof buffer);
    const size_t length = disassemble(instruction, buffer, size);
    const size_t expected = size == 0 ? 0 : std::min(size - 1, whole.size());
    ASSERT_EQ(length, expected);
    if (size > 0) {
      ASSERT_EQ(std::string(buffer), whole.substr(0, expected));
    }
    for (size_t i = size; i < sizeof buffer; ++i) ASSERT_EQ(buffer[i], '#');
  }
}

TEST(AxLimits, PrintfTextIsMadePlain) {
  const std::vector<uint8_t> code = {0x34, 0, 0, 6, 'a', '"', '\\', '\n', 0xff, 0};
  Instruction instruction;
  ASSERT_EQ(decode(code, 0, instruction), Fault::None);
  char buffer[64];
  disassemble(instruction, buffer, sizeof buffer);
  EXPECT_STREQ(buffer, R"(printf 0, "a\"\\\x0a\xff")");
}

TEST(AxTable, NamesAndCodesFindTheirRows) {
  for (const OpcodeInfo* info = opcodes_begin(); info != opcodes_end(); ++info) {
    EXPECT_EQ(find_opcode(info->name), info);
    EXPECT_EQ(opcode_info(static_cast<uint8_t>(info->opcode)), info);
    char line[kInstructionTextMax];
    EXPECT_LT(std::strlen(info->name) + 21, sizeof line);
  }
  EXPECT_EQ(opcodes_end() - opcodes_begin(), 51);
  EXPECT_EQ(find_opcode("const7"), nullptr);
  EXPECT_EQ(find_opcode("cons"), nullptr);
  EXPECT_EQ(find_opcode(""), nullptr);
  size_t known = 0;
  for (unsigned code = 0; code < 256; ++code)
    known += opcode_info(static_cast<uint8_t>(code)) != nullptr;
  EXPECT_EQ(known, 51u);
}

}  // namespace
}  // namespace tracewell::ax
