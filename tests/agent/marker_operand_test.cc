#include "agent/engine/marker_operand.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "ax/interpret.h"
#include "base/bytes.h"

namespace tracewell::agent {
namespace {

/// The general registers of x86-64, numbered as GDB does; register N is 0x1122334455667780 + N.
RegisterLayout wide_layout() {
  RegisterLayout layout;
  for (const char* name : {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
                           "r10", "r11", "r12", "r13", "r14", "r15", "rip"}) {
    const auto number = static_cast<uint32_t>(layout.registers.size());
    layout.registers.push_back({name, number, 8 * number, 8, "int64"});
  }
  layout.registers.push_back({"xmm0", 40, 8 * 17, 16, "vec128"});
  layout.pc_index = 16;
  return layout;
}

RegisterLayout narrow_layout() {
  RegisterLayout layout;
  for (const char* name : {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"}) {
    const auto number = static_cast<uint32_t>(layout.registers.size());
    layout.registers.push_back({name, number, 4 * number, 4, "int"});
  }
  layout.pc_index = 8;
  return layout;
}

/// Memory: every byte is the low byte of its address.
struct Host {
  uint64_t high = 0x1122334455667780;
  uint64_t address = 0;

  Endian endian() const { return Endian::Little; }
  bool read_register(unsigned number, uint64_t& value) {
    value = high + number;
    return true;
  }
  bool read_memory(uint64_t from, void* to, size_t size) {
    address = from;
    for (size_t i = 0; i < size; ++i) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(from + i);
    return true;
  }
  uint64_t get_variable(unsigned) { return 0; }
  void set_variable(unsigned, uint64_t) {}
  bool trace_memory(uint64_t, uint64_t) { return false; }
  bool trace_string(uint64_t, uint64_t) { return false; }
  bool trace_variable(unsigned) { return false; }
  bool print(uint64_t, uint64_t, const char*, std::span<const uint64_t>) { return false; }
};

TEST(MarkerOperand, Values) {
  const RegisterLayout layout = wide_layout();
  const std::map<std::string, uint64_t> cases = {
      {"8@$5", 5},
      {"-4@$-5", static_cast<uint64_t>(-5)},
      {"4@$-5", 0xfffffffb},
      {"8@$0x10", 16},
      {"8@%rax", 0x1122334455667780},
      {"8@%r15", 0x112233445566778f},
      {"4@%eax", 0x55667780},
      {"4@%r8d", 0x55667788},
      {"2@%ax", 0x7780},
      {"2@%r9w", 0x7789},
      {"1@%al", 0x80},
      {"-1@%al", static_cast<uint64_t>(-128)},
      {"1@%bh", 0x77},
      {"1@%dil", 0x85},
      {"1@%spl", 0x87},
      {"1@%r10b", 0x8a},
      {"2@%si", 0x7784},
      {"-4@%ebp", 0x55667786},
      {"4@%rax", 0x55667780},
  };
  for (const auto& [text, value] : cases) {
    const auto operand = compile_marker_operand(text, layout);
    ASSERT_TRUE(operand) << text;
    Host host;
    const ax::Outcome outcome = ax::run(operand->code, host);
    EXPECT_TRUE(outcome.ok() && outcome.has_value) << text;
    EXPECT_EQ(outcome.value, value) << text;
    EXPECT_EQ(operand->is_signed, text[0] == '-') << text;
  }
}

TEST(MarkerOperand, Places) {
  const RegisterLayout layout = wide_layout();
  const uint64_t at = 0x1122334455667780;
  const std::map<std::string, uint64_t> cases = {
      {"8@(%rax)", at},
      {"8@-8(%rbp)", at + 6 - 8},
      {"8@0x20(%rcx)", at + 2 + 32},
      {"8@4+-24(%rsp)", at + 7 - 20},
      {"8@8-4+1(%rsp)", at + 7 + 5},
      {"4@(%rax,%rbx)", 2 * at + 1},
      {"2@16(%rax,%rbx,4)", 5 * at + 4 + 16},
      {"1@64(,%rbx,8)", 8 * (at + 1) + 64},
  };
  for (const auto& [text, address] : cases) {
    const auto operand = compile_marker_operand(text, layout);
    ASSERT_TRUE(operand) << text;
    Host host;
    EXPECT_TRUE(ax::run(operand->code, host).ok()) << text;
    EXPECT_EQ(host.address, address) << text;
  }
  const auto read = compile_marker_operand("-2@(%rax)", layout);
  Host host;
  EXPECT_EQ(static_cast<int64_t>(ax::run(read->code, host).value), 0x8180 - 65536);
}

TEST(MarkerOperand, ThirtyTwoBits) {
  const RegisterLayout layout = narrow_layout();
  Host host;
  host.high = 0xfffffff0;
  EXPECT_EQ(ax::run(compile_marker_operand("4@%ecx", layout)->code, host).value, 0xfffffff1u);
  EXPECT_EQ(ax::run(compile_marker_operand("1@%dh", layout)->code, host).value, 0xffu);
  EXPECT_TRUE(ax::run(compile_marker_operand("4@32(%eax)", layout)->code, host).ok());
  EXPECT_EQ(host.address, 0x10u) << "sums leave out the carry";
}

TEST(MarkerOperand, WhatIsNone) {
  for (const char* text :
       {"", "8", "8@", "@%rax", "3@%rax", "16@%xmm0", "8f@%xmm0", "8@%xmm0", "8@%foo", "8@%", "8@$",
        "8@$x", "8@rax", "8@counter(%rip)", "4@counter", "8@%fs:16", "8@8(%rax", "8@(%rax,%rbx,3)",
        "8@(%rax,%rbx,16)", "8@(%rax,)", "8@()", "8@8", "8@%rax ", "--8@%rax", "8@$5x", "8@%eaxx",
        "8@(%xmm0)", "8@99999999999999999999999(%rax)", "8@%raxraxraxraxraxraxraxrax"})
    EXPECT_FALSE(compile_marker_operand(text, wide_layout())) << text;
}

}  // namespace
}  // namespace tracewell::agent
