// Copies of 64-bit instructions.
#include "machine/relocate.h"

#include <vector>

#include <gtest/gtest.h>

namespace tracewell::machine {
namespace {

constexpr bool kWide = true;

}  // namespace
}  // namespace tracewell::machine

#include "machine/instruction_compare.h"

namespace tracewell::machine {
namespace {

/// What a run ends with is believed, but for an int3 that the machine takes for no instruction.
TEST(InstructionRunner, KnowsAMisreportedInt3) {
  Machine machine;
  machine.place(std::vector<uint8_t>{0x0f, 0x0b}, {}, false);
  State end;
  const auto ends = [&end](uint64_t at, uint64_t sp, int signal) {
    end.regs[REG_RIP] = static_cast<greg_t>(at);
    end.regs[REG_RSP] = static_cast<greg_t>(sp);
    end.signal = signal;
    return Machine::is_misreported(end);
  };
  constexpr uint64_t kNotCanonical = 0x8123'4567'89ab'cde0;
  EXPECT_TRUE(ends(kFrom + 2, kNotCanonical, SIGILL));
  EXPECT_TRUE(ends(kCopy, kNotCanonical, SIGILL));
  EXPECT_FALSE(ends(kFrom + 3, kNotCanonical, SIGTRAP));
  EXPECT_FALSE(ends(kFrom, kNotCanonical, SIGILL)) << "a ud2";
  EXPECT_FALSE(ends(kFrom + 2, kData + 0x2000, SIGILL));
  EXPECT_FALSE(ends(kFrom + 2, 0xffff'8000'0000'0000, SIGILL));
  EXPECT_FALSE(ends(kData, kNotCanonical, SIGILL)) << "no code";
}

TEST(Relocate, EveryForm) {
  const uint64_t datum = kData + 0x1008, place = kCode + 0x123;
  const std::vector<Form> forms = {
      {"nop", {0x90}},
      {"push rbp", {0x55}},
      {"push rsp", {0x54}},
      {"pop rsp", {0x5c}},
      {"push imm", {0x68, 1, 2, 3, 0x84}},
      {"pushfq", {0x9c}},
      {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}},
      {"mov rax,[rip]", with_disp({0x48, 0x8b, 0x05}, datum)},
      {"lea r9,[rip]", with_disp({0x4c, 0x8d, 0x0d}, datum)},
      {"cmp dword [rip],imm32", with_disp({0x81, 0x3d}, datum, {1, 2, 3, 4})},
      {"add qword [rip],imm8", with_disp({0x48, 0x83, 0x05}, datum, {7})},
      {"vmovups ymm1,[rip]", with_disp({0xc5, 0xfc, 0x10, 0x0d}, datum)},
      {"vaddps zmm1,zmm2,[rip]", with_disp({0x62, 0xf1, 0x6c, 0x48, 0x58, 0x0d}, datum)},
      {"lock xadd [rip],rax", with_disp({0xf0, 0x48, 0x0f, 0xc1, 0x05}, datum)},
      {"jmp rel32", with_disp({0xe9}, place)},
      {"jmp rel8", {0xeb, 0x10}},
      {"jmp rel8 back", {0xeb, 0x80}},
      {"bnd jmp rel32", with_disp({0xf2, 0xe9}, place)},
      {"call rel32", with_disp({0xe8}, place)},
      {"data16 rex.w call", with_disp({0x66, 0x48, 0xe8}, place)},
      {"call next", {0xe8, 0, 0, 0, 0}},
      {"call rax", {0xff, 0xd0}},
      {"call r12", {0x41, 0xff, 0xd4}},
      {"notrack call rdx", {0x3e, 0xff, 0xd2}},
      {"call [rip]", with_disp({0xff, 0x15}, datum)},
      {"call [rbx+8]", {0xff, 0x53, 0x08}},
      {"call [rsp]", {0xff, 0x14, 0x24}},
      {"call [rsp+0x40]", {0xff, 0x54, 0x24, 0x40}},
      {"call [rsp+rcx*2+0x200]", {0xff, 0x94, 0x4c, 0, 2, 0, 0}},
      {"call [r12+8]", {0x41, 0xff, 0x54, 0x24, 0x08}},
      {"call [rsp-16]", {0xff, 0x54, 0x24, 0xf0}},
      {"jmp rax", {0xff, 0xe0}},
      {"jmp [rip]", with_disp({0xff, 0x25}, datum)},
      {"jmp [rsp+8]", {0xff, 0x64, 0x24, 0x08}},
      {"ret", {0xc3}},
      {"ret 16", {0xc2, 16, 0}},
      {"rep ret", {0xf3, 0xc3}},
      {"leave", {0xc9}},
      {"enter 16,0", {0xc8, 16, 0, 0}},
      {"loop", {0xe2, 0x20}},
      {"loope back", {0xe1, 0xa0}},
      {"loopne", {0xe0, 0x20}},
      {"jrcxz", {0xe3, 0x20}},
      {"jecxz", {0x67, 0xe3, 0x20}},
      {"rep movsb", {0xf3, 0xa4}},
      {"rep stosq", {0xf3, 0x48, 0xab}},
      {"repne scasb", {0xf2, 0xae}},
      {"rep cmpsb", {0xf3, 0xa6}},
      {"cmpxchg16b [rsi]", {0x48, 0x0f, 0xc7, 0x0e}},
      {"div rcx", {0x48, 0xf7, 0xf1}},
      {"movabs rax,imm64", {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},
      {"fifteen bytes",
       {0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0, 0}},
      {"ud2", {0x0f, 0x0b}},
      {"hlt", {0xf4}},
      {"int3", {0xcc}},
      {"int 3", {0xcd, 3}},
      {"int1", {0xf1}},
      {"int 0x21", {0xcd, 0x21}},
      {"mov cr3,rax", {0x0f, 0x22, 0xd8}},
      {"load from nowhere", {0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0}},
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

TEST(Relocate, WhatIsNeverMoved) {
  using How = DisplacedCode::How;
  const auto how = [](std::vector<uint8_t> code) {
    return displace_x86_64(code, kFrom, kTo).how;
  };
  EXPECT_EQ(how({0x0f, 0x05}), How::SystemCall);
  EXPECT_EQ(how({0x0f, 0x34}), How::SystemCall);
  EXPECT_EQ(how({0xcd, 0x80}), How::SystemCall);
  EXPECT_EQ(how({0xc7, 0xf8, 0, 0, 0, 0}), How::InPlace);           // xbegin
  EXPECT_EQ(how({0xff, 0x54, 0x24, 0xf8}), How::InPlace);           // call [rsp-8]
  EXPECT_EQ(how({0xff, 0xd4}), How::InPlace);                       // call rsp
  EXPECT_EQ(how({0x66, 0xff, 0xd0}), How::InPlace);                 // call ax
  EXPECT_EQ(how({0x67, 0x8b, 0x05, 0, 0, 0, 0}), How::InPlace);     // mov eax,[eip]
  EXPECT_EQ(how({0x06}), How::InPlace);                             // no instruction
  EXPECT_EQ(how({0x48, 0x8b}), How::InPlace);                       // cut
  EXPECT_EQ(how({}), How::InPlace);
  const std::vector<uint8_t> call = with_disp({0xe8}, kCode);
  EXPECT_EQ(displace_x86_64(call, kFrom, kFrom + (uint64_t{3} << 30)).how, How::InPlace);
}

TEST(Relocate, HighReturnAddressesArePushedWhole) {
  const std::vector<uint8_t> call = {0xe8, 0, 1, 0, 0};
  const DisplacedCode low = displace_x86_64(call, 0x401000, 0x501000);
  const DisplacedCode high = displace_x86_64(call, 0x555555554000, 0x555555560000);
  EXPECT_EQ(low.code.size(), 10u);
  EXPECT_EQ(high.code.size(), 18u);
  ASSERT_EQ(high.points.size(), 3u);
  EXPECT_EQ(high.points[1].sp_undo, 8);
  EXPECT_TRUE(high.points[2].done);
  EXPECT_EQ(high.points[2].pc, 0x555555554105u);
}

TEST(Relocate, RandomInstructionsAgreeWithTheirCopies) {
  EXPECT_GT(compare_random_instructions(15000), 4000);
}

}  // namespace
}  // namespace tracewell::machine
