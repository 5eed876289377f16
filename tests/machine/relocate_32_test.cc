// Copies of 32-bit instructions.
#include "machine/relocate.h"

#include <vector>

#include <gtest/gtest.h>

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif

namespace tracewell::machine {
namespace {

constexpr bool kWide = false;

}  // namespace
}  // namespace tracewell::machine

#include "machine/instruction_compare.h"

namespace tracewell::machine {
namespace {

TEST(Relocate32, EveryForm) {
  const uint64_t place = kCode + 0x123;
  const auto datum = static_cast<uint32_t>(kData + 0x1008);
  const auto at_datum = [&](std::vector<uint8_t> head) {
    for (int shift = 0; shift < 32; shift += 8) head.push_back(uint8_t(datum >> shift));
    return head;
  };
  const std::vector<Form> forms = {
      {"nop", {0x90}},
      {"push ebp", {0x55}},
      {"push esp", {0x54}},
      {"pop esp", {0x5c}},
      {"push imm", {0x68, 1, 2, 3, 0x84}},
      {"push cs", {0x0e}},
      {"pusha", {0x60}},
      {"popa", {0x61}},
      {"pushfd", {0x9c}},
      {"inc eax", {0x40}},
      {"dec edi", {0x4f}},
      {"aam", {0xd4, 10}},
      {"das", {0x2f}},
      {"into", {0xce}},
      {"salc", {0xd6}},
      {"endbr32", {0xf3, 0x0f, 0x1e, 0xfb}},
      {"mov eax,[moffs]", at_datum({0xa1})},
      {"mov eax,[disp32]", at_datum({0x8b, 0x05})},
      {"lea ecx,[disp32]", at_datum({0x8d, 0x0d})},
      {"lock xadd [disp32],eax", at_datum({0xf0, 0x0f, 0xc1, 0x05})},
      {"vmovups ymm1,[disp32]", at_datum({0xc5, 0xfc, 0x10, 0x0d})},
      {"bound eax,[disp32]", at_datum({0x62, 0x05})},
      {"jmp rel32", with_disp({0xe9}, place)},
      {"jmp rel32, far around", with_disp({0xe9}, 8)},
      {"jmp rel8", {0xeb, 0x10}},
      {"jmp rel8 back", {0xeb, 0x80}},
      {"call rel32", with_disp({0xe8}, place)},
      {"call next", {0xe8, 0, 0, 0, 0}},
      {"call eax", {0xff, 0xd0}},
      {"notrack call edx", {0x3e, 0xff, 0xd2}},
      {"call [disp32]", at_datum({0xff, 0x15})},
      {"call [ebx+8]", {0xff, 0x53, 0x08}},
      {"call [esp]", {0xff, 0x14, 0x24}},
      {"call [esp+0x40]", {0xff, 0x54, 0x24, 0x40}},
      {"call [esp+ecx*2+0x200]", {0xff, 0x94, 0x4c, 0, 2, 0, 0}},
      {"call [esp-8]", {0xff, 0x54, 0x24, 0xf8}},
      {"call [ebp+esi*4]", {0xff, 0x54, 0xb5, 0}},
      {"call [si]", {0x67, 0xff, 0x14}},
      {"jmp eax", {0xff, 0xe0}},
      {"jmp [disp32]", at_datum({0xff, 0x25})},
      {"jmp [esp+8]", {0xff, 0x64, 0x24, 0x08}},
      {"ret", {0xc3}},
      {"ret 16", {0xc2, 16, 0}},
      {"rep ret", {0xf3, 0xc3}},
      {"leave", {0xc9}},
      {"enter 16,0", {0xc8, 16, 0, 0}},
      {"loop", {0xe2, 0x20}},
      {"loope back", {0xe1, 0xa0}},
      {"loopne", {0xe0, 0x20}},
      {"jecxz", {0xe3, 0x20}},
      {"jcxz", {0x67, 0xe3, 0x20}},
      {"rep movsb", {0xf3, 0xa4}},
      {"rep stosd", {0xf3, 0xab}},
      {"cmpxchg8b [esi]", {0x0f, 0xc7, 0x0e}},
      {"div ecx", {0xf7, 0xf1}},
      {"ud2", {0x0f, 0x0b}},
      {"hlt", {0xf4}},
      {"int3", {0xcc}},
      {"int 3", {0xcd, 3}},
      {"int1", {0xf1}},
      {"int 0x21", {0xcd, 0x21}},
      {"load from nowhere", {0x8b, 0x05, 8, 0, 0, 0}},
  };
  Machine machine;
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    compare_often(machine, form.code);
  }
  for (uint8_t condition = 0; condition < 16; ++condition) {
    compare_often(machine, std::vector<uint8_t>{uint8_t(0x70 | condition), 0x33});
    compare_often(machine, with_disp({0x0f, uint8_t(0x80 | condition)}, place));
  }
}

TEST(Relocate32, WhatIsNeverMoved) {
  using How = DisplacedCode::How;
  const auto how = [](std::vector<uint8_t> code) { return displace_i386(code, kFrom, kTo).how; };
  EXPECT_EQ(how({0x0f, 0x05}), How::SystemCall);  // AMD's processors have it
  EXPECT_EQ(how({0x0f, 0x34}), How::SystemCall);
  EXPECT_EQ(how({0xcd, 0x80}), How::SystemCall);
  EXPECT_EQ(how({0xc7, 0xf8, 0, 0, 0, 0}), How::InPlace);                 // xbegin
  EXPECT_EQ(how({0xff, 0x54, 0x24, 0xfc}), How::InPlace);                 // call [esp-4]
  EXPECT_EQ(how({0xff, 0x54, 0x24, 0xf9}), How::InPlace);                 // call [esp-7]
  EXPECT_EQ(how({0xff, 0xd4}), How::InPlace);                             // call esp
  EXPECT_EQ(how({0x66, 0xff, 0xd0}), How::InPlace);                       // call ax
  EXPECT_EQ(how({0x66, 0xe9, 0, 0}), How::InPlace);                       // jmp rel16
  EXPECT_EQ(how({0x66, 0x74, 0x10}), How::InPlace);                       // je, 16-bit
  EXPECT_EQ(how({0x9a, 0, 0, 0, 0, 0x23, 0}), How::InPlace);              // call far
  EXPECT_EQ(how({0x8b}), How::InPlace);                                   // cut
  EXPECT_EQ(how({}), How::InPlace);
}

TEST(Relocate32, EverythingIsInReach) {
  const std::vector<uint8_t> call = {0xe8, 0xfb, 0xff, 0xff, 0x7f};  // 2 GiB up
  const DisplacedCode copy = displace_i386(call, 0xf7fc0000, 0x10000);
  ASSERT_EQ(copy.how, DisplacedCode::How::Copy);
  EXPECT_EQ(copy.code.size(), 10u);
  ASSERT_EQ(copy.points.size(), 2u);
  EXPECT_TRUE(copy.points[1].done);
  EXPECT_EQ(copy.points[1].pc, 0x77fc0000u);
}

TEST(Relocate32, RandomInstructionsAgreeWithTheirCopies) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer's own memory lies where random 32-bit addresses lead";
#endif
  EXPECT_GT(compare_random_instructions(15000), 4000);
}

}  // namespace
}  // namespace tracewell::machine
