// Instructions are run for real, once where they stand and once from their displaced copy with an
// int3 over the original, from the same registers and memory. Everything must come out the same:
// registers, flags, vectors, memory, where execution goes on, and which fault there was.
//
// Who includes this defines kWide before it: 64-bit instructions or 32-bit ones. Those are entered
// by the return from a signal, too, which may choose the code segment.
#pragma once

#include <csignal>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "machine/relocate.h"

namespace tracewell::machine {
namespace {

// All within reach of each other, far from everything else. Code pages are filled with int3, so
// wherever a branch goes, it stops there.
constexpr uint64_t kData = kWide ? 0x2000'0000'0000 : 0x2000'0000, kDataBytes = 0x4000;
constexpr uint64_t kCode = kData + 0x4000'0000, kCodeBytes = 0x4000;
constexpr uint64_t kFrom = kCode + 0x2000;
constexpr uint64_t kCopy = kCode + 0x0100'0000, kCopyBytes = 0x1000;
constexpr uint64_t kTo = kCopy + 0x100;
constexpr uint64_t kFlags = 0x8d5 | 0x400;  // the arithmetic ones, and DF
constexpr size_t kWordBytes = kWide ? 8 : 4;

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
    constexpr greg_t kCodeSegment = kWide ? 0x33 : 0x23;
    const greg_t segments = (now->uc_mcontext.gregs[REG_CSGSFS] & ~0xffff) | kCodeSegment;
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

  /// A run is taken again where the machine misreports the int3 that it ends at.
  State run(const State& before, uint64_t at) {
    State end = run_once(before, at);
    for (int tries = 100; tries > 0 && is_misreported(end); --tries) end = run_once(before, at);
    return end;
  }

  /// On AMD processors under KVM, an int3 is reported as an undefined instruction now and then,
  /// about once in ten thousand times, while the stack pointer is not canonical.
  static bool is_misreported(const State& end) {
    const auto at = static_cast<uint64_t>(end.regs[REG_RIP]);
    const int64_t sp = end.regs[REG_RSP];
    const bool in_ours = at - kCode < kCodeBytes || at - kCopy < kCopyBytes;
    return kWide && end.signal == SIGILL && sp != sp << 16 >> 16 && in_ours &&
           *reinterpret_cast<const uint8_t*>(at) == 0xcc;
  }

 private:
  static constexpr int kSignals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

  State run_once(const State& before, uint64_t at) {
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
  for (size_t i = 0; i + kWordBytes <= kDataBytes; i += kWordBytes) {
    uint64_t word = random();
    if (random() % 2 == 0) word = kCode + random() % 0x1000;  // a place to go to
    std::memcpy(&state.data[i], &word, kWordBytes);
  }
  for (greg_t& reg : state.regs) {
    reg = static_cast<greg_t>(kData + 0x1000 + (random() % 0x2000 & ~uint64_t{7}));
    if (random() % 4 == 0) reg = static_cast<greg_t>(random() % 3);
    if (random() % 8 == 0) reg = static_cast<greg_t>(random());
    if (!kWide) reg = static_cast<uint32_t>(reg);
  }
  state.regs[REG_RSP] = static_cast<greg_t>(kData + 0x2000 + random() % 0x100 * 8);
  state.regs[REG_EFL] = static_cast<greg_t>(0x202 | (random() & kFlags));
  for (uint8_t& byte : state.vectors) byte = static_cast<uint8_t>(random());
  return state;
}

}  // namespace
}  // namespace tracewell::machine
