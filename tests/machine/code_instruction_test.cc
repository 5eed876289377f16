#include "machine/code_instruction.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::machine {
namespace {

using Flow = CodeInstruction::Flow;
using Through = CodeInstruction::Through;
constexpr uint64_t kPc = 0x401000;

CodeInstruction decode(const std::vector<uint8_t>& bytes) { return decode_code(bytes, kPc); }

TEST(CodeInstruction, HowItGoesOn) {
  EXPECT_EQ(decode({0x55}).flow, Flow::Onward);
  EXPECT_EQ(decode({0x75, 0x10}).flow, Flow::Conditional);
  EXPECT_EQ(decode({0xe3, 0x10}).flow, Flow::Conditional);
  EXPECT_EQ(decode({0xc7, 0xf8, 0, 0, 0, 0}).flow, Flow::Conditional);  // xbegin
  EXPECT_EQ(decode({0x0f, 0x01, 0xd5}).flow, Flow::Onward);             // xend
  EXPECT_EQ(decode({0xc6, 0xf8, 0x01}).flow, Flow::Onward);             // xabort
  EXPECT_EQ(decode({0xeb, 0x10}).flow, Flow::Jump);
  EXPECT_EQ(decode({0xff, 0xe0}).flow, Flow::Jump);
  EXPECT_EQ(decode({0xff, 0xd0}).flow, Flow::Call);
  EXPECT_EQ(decode({0xf3, 0xc3}).flow, Flow::Return);
  EXPECT_EQ(decode({0x0f, 0x05}).flow, Flow::System);
  EXPECT_EQ(decode({0x0f, 0x34}).flow, Flow::System);
  EXPECT_EQ(decode({0xcd, 0x80}).flow, Flow::System);
  for (const std::vector<uint8_t>& bytes : std::vector<std::vector<uint8_t>>{
           {0xcc}, {0xcd, 0x21}, {0xf1}, {0xf4}, {0x0f, 0x0b}, {0x0f, 0xb9, 0xc0}})
    EXPECT_EQ(decode(bytes).flow, Flow::Stop);
  EXPECT_EQ(decode({0x06}).length, 0);
  EXPECT_EQ(decode({}).length, 0);
}

TEST(CodeInstruction, WhereItLeads) {
  EXPECT_EQ(decode({0x75, 0xfe}).target, kPc);
  EXPECT_EQ(decode({0xe8, 0, 1, 0, 0}).target, kPc + 0x105);
  EXPECT_EQ(decode({0xff, 0xe0}).target, std::nullopt);
  EXPECT_EQ(decode({0xff, 0xe0}).through, Through::Register);
  EXPECT_EQ(decode({0xff, 0x25, 0, 1, 0, 0}).through, Through::Pointer);
  EXPECT_EQ(decode({0xff, 0x20}).through, Through::Memory);
  const auto table = decode({0xff, 0x24, 0xc5, 0x00, 0x20, 0x40, 0x00});  // jmp [rax*8+0x402000]
  EXPECT_EQ(table.through, Through::Table);
  EXPECT_EQ(table.table, 0x402000u);
}

TEST(CodeInstruction, WhatItNames) {
  const auto lea = decode({0x48, 0x8d, 0x05, 0x10, 0, 0, 0});
  EXPECT_EQ(lea.named, kPc + 7 + 0x10);
  EXPECT_TRUE(lea.address_of);
  const auto load = decode({0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff});
  EXPECT_EQ(load.named, kPc + 7 - 0x10);
  EXPECT_FALSE(load.address_of);
  EXPECT_EQ(decode({0x48, 0x8b, 0x00}).named, std::nullopt);
  EXPECT_EQ(decode({0x0f, 0x1f, 0x05, 0, 0, 0, 0}).named, std::nullopt);  // a long nop
  EXPECT_TRUE(decode({0x48, 0x63, 0x04, 0x82}).table_load);
  EXPECT_FALSE(decode({0x48, 0x63, 0x04, 0xc2}).table_load);
}

TEST(CodeInstruction, WhatFills) {
  EXPECT_TRUE(decode({0x66, 0x90}).nop);
  EXPECT_TRUE(decode({0x0f, 0x1f, 0x40, 0}).nop);
  EXPECT_TRUE(decode({0xcc}).int3);
  EXPECT_TRUE(decode({0xf3, 0x0f, 0x1e, 0xfa}).endbr);
  EXPECT_FALSE(decode({0xf3, 0x0f, 0x1e, 0xfa}).nop);
}

bool is_same(const CodeInstruction& a, const CodeInstruction& b) {
  return a.length == b.length && a.flow == b.flow && a.through == b.through && a.nop == b.nop &&
         a.int3 == b.int3 && a.endbr == b.endbr && a.address_of == b.address_of &&
         a.table_load == b.table_load && a.target == b.target && a.named == b.named &&
         a.table == b.table;
}

std::string hex_of(Bytes code) {
  std::string out;
  for (const uint8_t byte : code) out += fmt::format("{:02x} ", byte);
  return out;
}

/// One that has seen much by then.
TEST(CodeInstruction, ManyAreWhatEachOfThemIs) {
  CodeDecoder decoder;
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(15);
  // Heads that are shared by many, so that what is kept is used.
  const std::vector<uint8_t> heads = {0x66, 0xf2, 0xf3, 0x48, 0x41, 0x4c, 0x40, 0x0f};
  int known = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    size_t at = 0;
    while (random() % 2 != 0 && at < 3) bytes[at++] = heads[random() % heads.size()];
    const Bytes code = Bytes(bytes).first(random() % 4 != 0 ? bytes.size() : random() % 12);
    const uint64_t before = decoder.found_out();
    const CodeInstruction one = decoder.decode(code, kPc);
    known += before == decoder.found_out();
    ASSERT_TRUE(is_same(one, decode_code(code, kPc))) << hex_of(code);
  }
  EXPECT_GT(known, 300'000);
}

/// Of real code few have to be found out: whoever waits for all of it waits a tenth as long.
TEST(CodeInstruction, CodeHasFewKindsOfInstructions) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr head;
  ASSERT_GT(image.size(), sizeof head);
  std::memcpy(&head, image.data(), sizeof head);
  CodeDecoder decoder;
  uint64_t count = 0;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, image.data() + head.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const Bytes code(reinterpret_cast<const uint8_t*>(image.data()) + part.p_offset, part.p_filesz);
    for (size_t at = 0; at < code.size(); ++count) {
      const CodeInstruction one = decoder.decode(code.subspan(at), at);
      ASSERT_TRUE(is_same(one, decode_code(code.subspan(at), at))) << at;
      at += std::max<size_t>(one.length, 1);
    }
  }
  EXPECT_GT(count, 100'000u);
  EXPECT_LT(decoder.found_out(), count / 10);
}

}  // namespace
}  // namespace tracewell::machine
