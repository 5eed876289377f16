// Compares an instruction with its copy (instruction_runner.h): given ones, and random ones.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include "machine/instruction_runner.h"
#include "machine/relocate.h"

namespace tracewell::machine {
namespace {

/// What the debugger does with a thread that it finds inside the copy.
void take_out(State& state, const DisplacedCode& copy) {
  const uint64_t offset = static_cast<uint64_t>(state.regs[REG_RIP]) - kTo;
  if (offset >= copy.code.size()) return;
  const CopyPoint* point = copy.find(offset);
  ASSERT_NE(point, nullptr) << "at " << offset;
  state.regs[REG_RIP] = static_cast<greg_t>(point->done ? point->pc : kFrom);
  if (!point->done) state.regs[REG_RSP] += point->sp_undo;
}

constexpr ZydisMachineMode kMode =
    kWide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32;

std::string text_of(Bytes code) {
  ZydisDisassembledInstruction text;
  if (ZYAN_FAILED(ZydisDisassembleIntel(kMode, kFrom, code.data(),
                                        code.size(), &text)))
    return "?";
  return text.text;
}

void expect_same(const State& a, const State& b, const State& before, const std::string& what) {
  constexpr const char* kNames[] = {"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rdi",
                                    "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip"};
  EXPECT_EQ(a.signal, b.signal) << what;
  for (int i = 0; i <= REG_RIP; ++i)
    EXPECT_EQ(static_cast<uint64_t>(a.regs[i]), static_cast<uint64_t>(b.regs[i]))
        << what << ": " << kNames[i];
  EXPECT_EQ(a.regs[REG_EFL] & ~0x10000, b.regs[REG_EFL] & ~0x10000) << what << ": flags";
  EXPECT_EQ(std::memcmp(a.vectors, b.vectors, sizeof a.vectors), 0) << what << ": vectors";
  if (a.signal == SIGSEGV || a.signal == SIGBUS) {
    EXPECT_EQ(a.fault_address, b.fault_address) << what;
  }
  // A call that faults may have written its return address; nobody owns that place.
  std::vector<uint8_t> left = a.data, right = b.data;
  const uint64_t dead = static_cast<uint64_t>(before.regs[REG_RSP]) - kWordBytes - kData;
  if (a.signal != SIGTRAP && dead + kWordBytes <= kDataBytes) {
    std::memset(&left[dead], 0, kWordBytes);
    std::memset(&right[dead], 0, kWordBytes);
  }
  EXPECT_TRUE(left == right) << what << ": memory";
}

/// Runs it both ways. false = it is not one that a copy is made of.
bool compare(Machine& machine, Bytes code, const State& before) {
  const auto displace = kWide ? displace_x86_64 : displace_i386;
  const DisplacedCode copy = displace(code, kFrom, kTo);
  if (copy.how != DisplacedCode::How::Copy) return false;
  EXPECT_LE(copy.code.size(), kDisplacedBytesMax);
  code = code.first(copy.length);
  const std::string what = text_of(code);
  machine.place(code, copy, false);
  const State original = machine.run(before, kFrom);
  machine.place(code, copy, true);
  State displaced = machine.run(before, kTo);
  take_out(displaced, copy);
  expect_same(original, displaced, before, what);
  return true;
}

void compare_often(Machine& machine, Bytes code, int times = 40) {
  Random random(code.size() * 977 + code[0]);
  for (int i = 0; i < times; ++i)
    ASSERT_TRUE(compare(machine, code, random_state(random))) << text_of(code);
}

struct Form {
  const char* name;
  std::vector<uint8_t> code;
};

std::vector<uint8_t> with_disp(std::vector<uint8_t> head, uint64_t target,
                               std::vector<uint8_t> tail = {}) {
  const auto disp = static_cast<uint32_t>(target - (kFrom + head.size() + 4 + tail.size()));
  for (int shift = 0; shift < 32; shift += 8) head.push_back(uint8_t(disp >> shift));
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

/// Those whose result differs from one run to the next, or that take the test program apart.
bool is_unfit(const ZydisDecodedInstruction& one) {
  switch (one.mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP: case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED: case ZYDIS_MNEMONIC_RDPID: case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDPMC: case ZYDIS_MNEMONIC_XGETBV: case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD: case ZYDIS_MNEMONIC_POPFQ: case ZYDIS_MNEMONIC_WRPKRU:
    case ZYDIS_MNEMONIC_RDPKRU: case ZYDIS_MNEMONIC_WRFSBASE: case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_RDPRU: case ZYDIS_MNEMONIC_VMMCALL: case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_LDMXCSR: case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64: case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64: case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64: case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC: case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64: case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV: case ZYDIS_MNEMONIC_FRSTOR: case ZYDIS_MNEMONIC_LFS:
    case ZYDIS_MNEMONIC_LGS: case ZYDIS_MNEMONIC_LSS: case ZYDIS_MNEMONIC_LES:
    case ZYDIS_MNEMONIC_LDS: return true;
    default: break;
  }
  const bool segment_load = one.opcode == 0x8e && one.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
  const bool pop_segment = one.opcode_map == ZYDIS_OPCODE_MAP_0F &&
                           (one.opcode == 0xa1 || one.opcode == 0xa9);
  const bool x87 = one.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && one.opcode >= 0xd8 &&
                   one.opcode <= 0xdf && one.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  const bool absolute = (one.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0 && one.raw.modrm.mod == 0 &&
                        one.raw.sib.base == 5;
  const bool old_pop_segment = !kWide && one.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
                               (one.opcode == 0x07 || one.opcode == 0x17 || one.opcode == 0x1f);
  return segment_load || pop_segment || old_pop_segment || x87 || absolute ||
         one.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
         (one.attributes & ZYDIS_ATTRIB_HAS_SEGMENT) != 0;
}

/// How many were compared.
int compare_random_instructions(int count) {
  Machine machine;
  Random random(20240);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, kMode, kWide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  int ran = 0;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    std::vector<uint8_t> code(15);
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    if (kWide && random() % 3 == 0) code[0] = 0x48 | (random() & 7);
    if (random() % 4 == 0) code[random() % 2] = 0x0f;
    ZydisDecodedInstruction one;
    ZydisDecoderContext context;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, &context, code.data(), 15, &one)))
      continue;
    // An address by itself: relative to the pc in 64-bit code.
    const bool displaced = one.address_width != 16 &&
                           (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
                           one.raw.modrm.mod == 0 && one.raw.modrm.rm == 5;
    if (displaced) {
      const uint64_t target = kData + 0x1000 + random() % 0x2000;
      const auto disp = static_cast<uint32_t>(kWide ? target - (kFrom + one.length) : target);
      std::memcpy(&code[one.raw.disp.offset], &disp, 4);
    }
    if (is_unfit(one)) continue;
    const int64_t distance = one.raw.imm[0].is_relative ? one.raw.imm[0].value.s : 0;
    if (distance < 0 && distance >= -int64_t{one.length}) continue;  // into itself
    ran += compare(machine, Bytes(code), random_state(random));
  }
  return ran;
}

}  // namespace
}  // namespace tracewell::machine
