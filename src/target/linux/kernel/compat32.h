// What is different about 32-bit programs, which the kernel runs beside 64-bit ones: their numbers
// of system calls, their signal frames and siginfo. Their registers are the low halves of ours.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/user.h>

#include "base/bytes.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// By its ELF header. false also when it cannot be read.
bool runs_32_bit_program(Tid tid);

/// The mode that the thread's code is in. A program may have both kinds, whatever it is itself.
inline bool in_32_bit_code(const user_regs_struct& regs) {
  constexpr uint64_t kUserCode32 = 0x23;
  return regs.cs == kUserCode32;
}

/// Numbers of those that we look for, or make.
struct SystemCalls {
  int32_t clone, clone3, vfork;
  int32_t sigreturn;  // -1 = has none
  int32_t rt_sigreturn;
  int32_t execve, execveat;
  uint64_t mmap, munmap, prctl;
  uint8_t instruction[2];  // one that makes them, wherever it stands
};
const SystemCalls& system_calls(bool is_32_bit);
/// Is it in the call by which signal handlers return?
bool is_sigreturn(const user_regs_struct& regs, bool is_32_bit);

/// Registers for making a system call: number and six arguments.
void set_system_call(user_regs_struct& regs, const uint64_t (&call)[7], bool is_32_bit);
/// Its result: negative = -errno.
int64_t system_call_result(const user_regs_struct& regs, bool is_32_bit);
inline uint64_t first_argument(const user_regs_struct& regs, bool is_32_bit) {
  return is_32_bit ? static_cast<uint32_t>(regs.rbx) : regs.rdi;
}

/// Where a signal handler, at whose first instruction the stack pointer is `frame`, will return to.
struct Interrupted {
  uint64_t pc = 0, sp = 0;
};
std::optional<Interrupted> interrupted_by_handler(const PatchedMemory& memory, uint64_t frame);

/// Between the kernel's siginfo as we see it and as a 32-bit program sees it; 128 bytes both.
std::vector<uint8_t> siginfo_to_32_bit(const siginfo_t& info);
/// `info` is what stood there before. What its kind of signal does not have stays.
void siginfo_from_32_bit(Bytes bytes, siginfo_t& info);

}  // namespace tracewell::target::live
