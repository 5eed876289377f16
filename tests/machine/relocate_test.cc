// Instructions are run for real, once where they stand and once from their displaced copy with an
// int3 over the original, from the same registers and memory. Everything must come out the same:
// registers, flags, vectors, memory, where execution goes on, and which fault there was.
#include "machine/relocate.h"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace tracewell::machine {
namespace {

// All within reach of each other, far from everything else. Code pages are filled with int3, so
// wherever a branch goes, it stops there.
constexpr uint64_t kData = 0x2000'0000'0000, kDataBytes = 0x4000;
constexpr uint64_t kCode = 0x2000'4000'0000, kCodeBytes = 0x4000;
constexpr uint64_t kFrom = kCode + 0x2000;
constexpr uint64_t kCopy = 0x2000'4100'0000, kCopyBytes = 0x1000;
constexpr uint64_t kTo = kCopy + 0x100;
constexpr uint64_t kFlags = 0x8d5 | 0x400;  // the arithmetic ones, and DF

struct State {
  greg_t regs[NGREG] = {};
  uint8_t vectors[256] = {};  // xmm
  std::vector<uint8_t> data;
  int signal = 0;
  uint64_t fault_address = 0;
};

// The switch between this program and the instruction is made by signals: a handler may replace all
// registers at once.
ucontext_t host;
const State* entering = nullptr;
State* leaving = nullptr;

void copy_vectors(uint8_t* to, const uint8_t* from, size_t size) { std::memcpy(to, from, size); }

void on_signal(int signal, siginfo_t* info, void* context) {
  auto* now = static_cast<ucontext_t*>(context);
  if (entering != nullptr) {
    std::memcpy(host.uc_mcontext.gregs, now->uc_mcontext.gregs, sizeof(gregset_t));
    const greg_t segments = now->uc_mcontext.gregs[REG_CSGSFS];
    std::memcpy(now->uc_mcontext.gregs, entering->regs, sizeof(gregset_t));
    now->uc_mcontext.gregs[REG_CSGSFS] = segments;
    copy_vectors(reinterpret_cast<uint8_t*>(now->uc_mcontext.fpregs->_xmm), entering->vectors, 256);
    entering = nullptr;
    return;
  }
  std::memcpy(leaving->regs, now->uc_mcontext.gregs, sizeof(gregset_t));
  copy_vectors(leaving->vectors, reinterpret_cast<uint8_t*>(now->uc_mcontext.fpregs->_xmm), 256);
  leaving->signal = signal;
  leaving->fault_address = signal == SIGTRAP ? 0 : reinterpret_cast<uint64_t>(info->si_addr);
  now->uc_mcontext.fpregs->mxcsr = 0x1f80;
  std::memcpy(now->uc_mcontext.gregs, host.uc_mcontext.gregs, sizeof(gregset_t));
}

class Machine {
 public:
  Machine() {
    map(kData, kDataBytes, PROT_READ | PROT_WRITE);
    map(kCode, kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    map(kCopy, kCopyBytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    alternate_.resize(1 << 16);
    stack_t stack{};
    stack.ss_sp = alternate_.data();
    stack.ss_size = alternate_.size();
    sigaltstack(&stack, &old_stack_);
    struct sigaction action{};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &old_[i]);
  }
  ~Machine() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    sigaltstack(&old_stack_, nullptr);
    munmap(reinterpret_cast<void*>(kData), kDataBytes);
    munmap(reinterpret_cast<void*>(kCode), kCodeBytes);
    munmap(reinterpret_cast<void*>(kCopy), kCopyBytes);
  }

  void place(Bytes code, const DisplacedCode& copy, bool patched) {
    std::memset(reinterpret_cast<void*>(kCode), 0xcc, kCodeBytes);
    std::memset(reinterpret_cast<void*>(kCopy), 0xcc, kCopyBytes);
    std::memcpy(reinterpret_cast<void*>(kFrom), code.data(), code.size());
    if (patched) *reinterpret_cast<uint8_t*>(kFrom) = 0xcc;
    std::memcpy(reinterpret_cast<void*>(kTo), copy.code.data(), copy.code.size());
  }

  State run(const State& before, uint64_t at) {
    State start = before, end;
    start.regs[REG_RIP] = static_cast<greg_t>(at);
    std::memcpy(reinterpret_cast<void*>(kData), before.data.data(), kDataBytes);
    entering = &start;
    leaving = &end;
    asm volatile("int3" ::: "memory", "cc");
    end.data.assign(reinterpret_cast<uint8_t*>(kData),
                    reinterpret_cast<uint8_t*>(kData) + kDataBytes);
    return end;
  }

 private:
  static constexpr int kSignals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  static void map(uint64_t at, size_t size, int protection) {
    void* got = mmap(reinterpret_cast<void*>(at), size, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(got, reinterpret_cast<void*>(at));
  }
  std::vector<uint8_t> alternate_;
  stack_t old_stack_{};
  struct sigaction old_[std::size(kSignals)] = {};
};

using Random = std::mt19937_64;

State random_state(Random& random) {
  State state;
  state.data.resize(kDataBytes);
  for (size_t i = 0; i + 8 <= kDataBytes; i += 8) {
    uint64_t word = random();
    if (random() % 2 == 0) word = kCode + random() % 0x1000;  // a place to go to
    std::memcpy(&state.data[i], &word, 8);
  }
  for (greg_t& reg : state.regs) {
    reg = static_cast<greg_t>(kData + 0x1000 + (random() % 0x2000 & ~uint64_t{7}));
    if (random() % 4 == 0) reg = static_cast<greg_t>(random() % 3);
    if (random() % 8 == 0) reg = static_cast<greg_t>(random());
  }
  state.regs[REG_RSP] = static_cast<greg_t>(kData + 0x2000 + random() % 0x100 * 8);
  state.regs[REG_EFL] = static_cast<greg_t>(0x202 | (random() & kFlags));
  for (uint8_t& byte : state.vectors) byte = static_cast<uint8_t>(random());
  return state;
}

/// What the debugger does with a thread that it finds inside the copy.
void take_out(State& state, const DisplacedCode& copy) {
  const uint64_t offset = static_cast<uint64_t>(state.regs[REG_RIP]) - kTo;
  if (offset >= copy.code.size()) return;
  const CopyPoint* point = copy.find(offset);
  ASSERT_NE(point, nullptr) << "at " << offset;
  state.regs[REG_RIP] = static_cast<greg_t>(point->done ? point->pc : kFrom);
  if (!point->done) state.regs[REG_RSP] += point->sp_undo;
}

std::string text_of(Bytes code) {
  ZydisDisassembledInstruction text;
  if (ZYAN_FAILED(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, kFrom, code.data(),
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
  const uint64_t dead = static_cast<uint64_t>(before.regs[REG_RSP]) - 8 - kData;
  if (a.signal != SIGTRAP && dead + 8 <= kDataBytes) {
    std::memset(&left[dead], 0, 8);
    std::memset(&right[dead], 0, 8);
  }
  EXPECT_TRUE(left == right) << what << ": memory";
}

/// Runs it both ways. false = it is not one that a copy is made of.
bool compare(Machine& machine, Bytes code, const State& before) {
  const DisplacedCode copy = displace_x86_64(code, kFrom, kTo);
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
    case ZYDIS_MNEMONIC_LGS: case ZYDIS_MNEMONIC_LSS: return true;
    default: break;
  }
  const bool segment_load = one.opcode == 0x8e && one.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
  const bool pop_segment = one.opcode_map == ZYDIS_OPCODE_MAP_0F &&
                           (one.opcode == 0xa1 || one.opcode == 0xa9);
  const bool x87 = one.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && one.opcode >= 0xd8 &&
                   one.opcode <= 0xdf && one.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
  const bool absolute = (one.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0 && one.raw.modrm.mod == 0 &&
                        one.raw.sib.base == 5;
  return segment_load || pop_segment || x87 || absolute ||
         one.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
         (one.attributes & ZYDIS_ATTRIB_HAS_SEGMENT) != 0;
}

TEST(Relocate, RandomInstructionsAgreeWithTheirCopies) {
  Machine machine;
  Random random(20240);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  int ran = 0;
  for (int i = 0; i < 15000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code(15);
    for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
    if (random() % 3 == 0) code[0] = 0x48 | (random() & 7);
    if (random() % 4 == 0) code[random() % 2] = 0x0f;
    ZydisDecodedInstruction one;
    ZydisDecoderContext context;
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, &context, code.data(), 15, &one)))
      continue;
    const bool rip_relative = (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
                              one.raw.modrm.mod == 0 && one.raw.modrm.rm == 5;
    if (rip_relative) {
      const uint64_t target = kData + 0x1000 + random() % 0x2000;
      const auto disp = static_cast<uint32_t>(target - (kFrom + one.length));
      std::memcpy(&code[one.raw.disp.offset], &disp, 4);
    }
    if (is_unfit(one)) continue;
    const int64_t distance = one.raw.imm[0].is_relative ? one.raw.imm[0].value.s : 0;
    if (distance < 0 && distance >= -int64_t{one.length}) continue;  // into itself
    ran += compare(machine, Bytes(code), random_state(random));
  }
  EXPECT_GT(ran, 4000);
}

}  // namespace
}  // namespace tracewell::machine
