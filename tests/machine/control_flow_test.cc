#include "machine/control_flow.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"

namespace tracewell::machine::test {
namespace {

struct Case {
  const char* code;
  uint8_t length;
  Flow flow;
  const char* text;  // at 0x401000
};

void expect_cases(std::string_view machine, const std::vector<Case>& cases) {
  const FlowDecoder decoder(machine);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.code);
    const std::vector<uint8_t> code = *from_hex(one.code);
    const FlowInstruction got = decoder.decode(code);
    EXPECT_EQ(got.length, one.length);
    EXPECT_EQ(got.flow, one.flow);
    EXPECT_EQ(decoder.text(code, 0x401000), one.text);
  }
}

TEST(ControlFlow, Wide) {
  expect_cases("x86-64", {
                             {"90", 1, Flow::Onward, "nop"},
                             {"48ffc0cccc", 3, Flow::Onward, "inc rax"},
                             {"0f05", 2, Flow::Onward, "syscall"},
                             {"cc", 1, Flow::Onward, "int3"},
                             {"f348a5", 3, Flow::Onward, "rep movsq"},
                             {"eb10", 2, Flow::Jump, "jmp 0x401012"},
                             {"75f6", 2, Flow::Jump, "jnz 0x400ff8"},
                             {"ff20", 2, Flow::Jump, "jmp qword ptr [rax]"},
                             {"e2fe", 2, Flow::Jump, "loop 0x401000"},
                             {"e80b000000", 5, Flow::Call, "call 0x401010"},
                             {"ffd3", 2, Flow::Call, "call rbx"},
                             {"c3", 1, Flow::Return, "ret"},
                             {"f3c3", 2, Flow::Return, "ret"},
                             {"c20800", 3, Flow::Return, "ret 0x08"},
                             {"48cf", 2, Flow::Return, "iretq"},
                             {"ffff", 0, Flow::Unknown, ""},
                             {"e80b", 0, Flow::Unknown, ""},
                             {"", 0, Flow::Unknown, ""},
                         });
}

TEST(ControlFlow, LeavesTheProgram) {
  const auto leaves = [](std::string_view machine, const char* code) {
    return FlowDecoder(machine).decode(*from_hex(code)).leaves;
  };
  for (const char* code : {"0f05", "0f34", "cd80", "cd2e", "cc", "ff28", "48ff18", "cb", "48cb",
                           "ca0800", "cf", "48cf"})
    EXPECT_TRUE(leaves("x86-64", code)) << code;
  for (const char* code : {"0f34", "cd80", "cd2e", "9a100040002300", "ea100040003300", "cb", "cf"})
    EXPECT_TRUE(leaves("i386", code)) << code;
  for (const char* code : {"90", "e80b000000", "c3", "eb10", "48a5", "ff20", "ffd3", "c20800"})
    EXPECT_FALSE(leaves("x86-64", code)) << code;
}

TEST(ControlFlow, SaysWhereItLeads) {
  const auto decode = [](const char* code) { return FlowDecoder("i386").decode(*from_hex(code)); };
  for (const auto& [code, distance] : std::vector<std::pair<const char*, int32_t>>{
           {"eb10", 16}, {"75f6", -10}, {"e2fe", -2}, {"e80b000000", 11}, {"e9fbffffff", -5},
           {"0f8500000080", INT32_MIN}, {"c7f805000000", 5}})
    EXPECT_EQ(decode(code).distance, distance) << code;
  for (const char* code : {"90", "ff20", "ffd3", "c3", "9a100040002300", "66e90000", "66e80000"})
    EXPECT_EQ(decode(code).distance, std::nullopt) << code;
  for (const char* code : {"75f6", "e2fe", "e300", "c7f805000000"})
    EXPECT_TRUE(decode(code).conditional) << code;
  for (const char* code : {"eb10", "e80b000000", "90", "c3"})
    EXPECT_FALSE(decode(code).conditional) << code;
  for (const char* code : {"f3a5", "f3aa", "f2ae", "f3a6", "f36c"})
    EXPECT_TRUE(decode(code).repeats) << code;
  for (const char* code : {"a5", "f390", "f3c3", "f30f10c0", "f20f10c0"})
    EXPECT_FALSE(decode(code).repeats) << code;
}

TEST(ControlFlow, Narrow) {
  expect_cases("i386", {
                           {"48", 1, Flow::Onward, "dec eax"},
                           {"9a100040002300", 7, Flow::Call, "call far 0x0023:0x00400010"},
                           {"cb", 1, Flow::Return, "ret far"},
                       });
}

TEST(ControlFlow, OtherMachines) {
  expect_cases("powerpc", {{"60000000", 0, Flow::Unknown, ""}});
}

TEST(ControlFlow, WhatReadsOtherwiseElsewhereIsRelative) {
  for (const char* const machine : {"x86-64", "i386"}) {
    const FlowDecoder decoder(machine);
    std::mt19937 random(3);
    size_t relative = 0;
    for (int i = 0; i < 200000; ++i) {
      std::vector<uint8_t> code(15);
      for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
      if (random() % 4 == 0) code[0] = 0x0f;
      if (random() % 2 == 0) code[1] = 0x05;  // with many: what is at rip
      const bool moves = decoder.text(code, 0x401000) != decoder.text(code, 0x7fff12345678);
      relative += moves ? 1 : 0;
      ASSERT_TRUE(!moves || decoder.is_relative(code)) << decoder.text(code, 0x401000);
    }
    EXPECT_GT(relative, 5000U);
  }
  const FlowDecoder decoder("x86-64");
  EXPECT_TRUE(decoder.is_relative(*from_hex("75f6")));
  EXPECT_TRUE(decoder.is_relative(*from_hex("488d0510000000")));  // lea rax, [rip+0x10]
  EXPECT_FALSE(decoder.is_relative(*from_hex("90")));
  EXPECT_FALSE(decoder.is_relative({}));
  EXPECT_FALSE(FlowDecoder("powerpc").is_relative(*from_hex("75f6")));
}

}  // namespace
}  // namespace tracewell::machine::test
