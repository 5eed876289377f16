// Runs a function of this process one instruction at a time: with the processor's trap flag, and a
// signal handler that is called ahead of each instruction.
#pragma once

#include <csignal>
#include <cstdint>
#include <vector>

#include <ucontext.h>
#include <x86intrin.h>

#include "pad_runs/child.h"

namespace tracewell::pads {
namespace {

using OnStep = void (*)(ucontext_t& context);

// Signal handlers have no other way to know.
OnStep on_step = nullptr;  // for each step
OnStep on_other = nullptr;  // for other traps: int3, and what is no instruction

constexpr greg_t kTrapFlag = 0x100;

/// Steps have TRAP_TRACE; TRAP_BRKPT where the kernel was not told what caused the trap: behind
/// system calls, and now and then in virtual machines. An int3 has SI_KERNEL.
inline bool is_step(const siginfo_t& info) {
  return info.si_signo == SIGTRAP && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
}

inline void on_trap(int, siginfo_t* info, void* context) {
  auto& now = *static_cast<ucontext_t*>(context);
  if (is_step(*info)) {
    if (on_step != nullptr) on_step(now);
    return;
  }
  if (on_other != nullptr) return on_other(now);
  Shared::get().signal_code = info->si_code;
  Shared::get().signal_at = static_cast<uint64_t>(now.uc_mcontext.gregs[REG_RIP]);
  signal(info->si_signo, SIG_DFL);  // as if there were no handler
}

inline void catch_traps() {
  static std::vector<uint8_t> alternate(1 << 17);
  stack_t stack{};
  stack.ss_sp = alternate.data();
  stack.ss_size = alternate.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGTRAP, SIGILL, SIGSEGV}) sigaction(signal, &action, nullptr);
}

template <class Run>
uint64_t stepped(const Run& run, OnStep step) {
  on_step = step;
  __writeeflags(__readeflags() | kTrapFlag);
  const uint64_t result = run();
  __writeeflags(__readeflags() & ~static_cast<uint64_t>(kTrapFlag));
  on_step = nullptr;
  return result;
}

}  // namespace
}  // namespace tracewell::pads
