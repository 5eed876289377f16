#include "target/linux/kernel/seccomp_filter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <linux/audit.h>
#include <sys/syscall.h>

#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

// The kernel's own (include/linux/errno.h): what a call that a signal interrupts leaves in the
// register of its result. The first: restart_syscall; the second: the call again, or EINTR where a
// handler comes first.
constexpr int64_t kRestartBlock = -516, kRestartNoHandler = -514;
constexpr uint32_t kRestart64 = SYS_restart_syscall, kRestart32 = 0;
constexpr size_t kFiltersMax = 1024;

struct Machine {
  uint32_t a = 0, x = 0;
  std::array<uint32_t, BPF_MEMWORDS> memory{};
};

bool load(const sock_filter& op, const seccomp_data& call, size_t known, Machine& machine) {
  uint32_t value = 0;
  switch (BPF_MODE(op.code)) {
    case BPF_IMM: value = op.k; break;
    case BPF_LEN: value = sizeof call; break;
    case BPF_MEM:
      if (op.k >= BPF_MEMWORDS) return false;
      value = machine.memory[op.k];
      break;
    case BPF_ABS:
      if (BPF_SIZE(op.code) != BPF_W || BPF_CLASS(op.code) != BPF_LD) return false;
      if (op.k % 4 != 0 || op.k >= known) return false;
      std::memcpy(&value, reinterpret_cast<const uint8_t*>(&call) + op.k, sizeof value);
      break;
    default: return false;
  }
  (BPF_CLASS(op.code) == BPF_LD ? machine.a : machine.x) = value;
  return true;
}

bool compute(const sock_filter& op, Machine& machine) {
  constexpr uint32_t kShiftBits = 31;  // of X; more than that in K the kernel does not take
  const bool by_x = BPF_SRC(op.code) == BPF_X;
  const uint32_t by = by_x ? machine.x : op.k;
  uint32_t& a = machine.a;
  switch (BPF_OP(op.code)) {
    case BPF_ADD: a += by; return true;
    case BPF_SUB: a -= by; return true;
    case BPF_MUL: a *= by; return true;
    case BPF_DIV: a = by != 0 ? a / by : 0; return by != 0;
    case BPF_AND: a &= by; return true;
    case BPF_OR: a |= by; return true;
    case BPF_XOR: a ^= by; return true;
    case BPF_LSH: a <<= by & kShiftBits; return by_x || by <= kShiftBits;
    case BPF_RSH: a >>= by & kShiftBits; return by_x || by <= kShiftBits;
    case BPF_NEG: a = 0 - a; return true;
    default: return false;
  }
}

/// How many instructions to leave out.
std::optional<uint32_t> jump(const sock_filter& op, const Machine& machine) {
  const uint32_t with = BPF_SRC(op.code) == BPF_X ? machine.x : op.k;
  switch (BPF_OP(op.code)) {
    case BPF_JA: return op.k;
    case BPF_JEQ: return machine.a == with ? op.jt : op.jf;
    case BPF_JGT: return machine.a > with ? op.jt : op.jf;
    case BPF_JGE: return machine.a >= with ? op.jt : op.jf;
    case BPF_JSET: return (machine.a & with) != 0 ? op.jt : op.jf;
    default: return std::nullopt;
  }
}

bool store(const sock_filter& op, Machine& machine) {
  if (op.k >= BPF_MEMWORDS) return false;
  machine.memory[op.k] = BPF_CLASS(op.code) == BPF_ST ? machine.a : machine.x;
  return true;
}

/// All but the jumps and the end.
bool apply(const sock_filter& op, const seccomp_data& call, size_t known, Machine& machine) {
  switch (BPF_CLASS(op.code)) {
    case BPF_LD:
    case BPF_LDX: return load(op, call, known, machine);
    case BPF_ST:
    case BPF_STX: return store(op, machine);
    case BPF_ALU: return compute(op, machine);
    case BPF_MISC:
      if (BPF_MISCOP(op.code) == BPF_TAX) machine.x = machine.a;
      else machine.a = machine.x;
      return true;
    default: return false;
  }
}

seccomp_data restart_of(const user_regs_struct& regs) {
  const bool is_32_bit = in_32_bit_code(regs);
  seccomp_data call{};
  call.nr = static_cast<int>(is_32_bit ? kRestart32 : kRestart64);
  call.arch = is_32_bit ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64;
  call.instruction_pointer = regs.rip;
  const uint64_t wide[] = {regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9};
  const uint64_t narrow[] = {regs.rbx, regs.rcx, regs.rdx, regs.rsi, regs.rdi, regs.rbp};
  for (size_t i = 0; i < 6; ++i)
    call.args[i] = is_32_bit ? static_cast<uint32_t>(narrow[i]) : wide[i];
  return call;
}

bool lets_through(uint32_t answer) {
  const uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace

std::optional<uint32_t> run_filter(std::span<const sock_filter> filter, const seccomp_data& call,
                                   size_t known) {
  Machine machine;
  for (size_t at = 0; at < filter.size(); ++at) {  // jumps lead forward alone
    const sock_filter& op = filter[at];
    if (BPF_CLASS(op.code) == BPF_RET) return BPF_RVAL(op.code) == BPF_A ? machine.a : op.k;
    if (BPF_CLASS(op.code) == BPF_JMP) {
      const auto left_out = jump(op, machine);
      if (!left_out) return std::nullopt;
      at += *left_out;
    } else if (!apply(op, call, known, machine)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

bool always_allows(std::span<const sock_filter> filter, uint32_t number) {
  seccomp_data call{};
  call.nr = static_cast<int>(number);
  call.arch = AUDIT_ARCH_X86_64;
  const auto answer = run_filter(filter, call, offsetof(seccomp_data, instruction_pointer));
  return answer && (*answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
}

bool FiltersOfThreads::spend(size_t work) {
  const bool enough = work <= left_;
  left_ -= std::min(left_, work);
  return enough;
}

bool FiltersOfThreads::judge(std::span<const sock_filter> filter) {
  const auto forbids = [&](const FastSites::Call& call) {
    return !always_allows(filter, call.number);
  };
  const auto first = std::ranges::find_if(calls_, forbids);
  if (first == calls_.end()) return true;
  forbidden_ = first->name;
  return false;
}

/// All of them, in whatever order the kernel counts them. It says ENOENT behind the last.
FiltersOfThreads::Answer FiltersOfThreads::look(Tid tid) {
  constexpr size_t kReadingOne = 64;  // takes as long as so many instructions
  const auto are_same = [](const sock_filter& one, const sock_filter& other) {
    return one.code == other.code && one.jt == other.jt && one.jf == other.jf && one.k == other.k;
  };
  room_.resize(BPF_MAXINSNS);
  for (size_t number = 0; number < kFiltersMax; ++number) {
    errno = 0;
    const long count = trace(PTRACE_SECCOMP_GET_FILTER, tid, number, room_.data());
    if (count == -1 && errno == ENOENT && number != 0) {
      count_ = static_cast<uint32_t>(number);
      return Answer::Allow;
    }
    if (count == -1 && errno == ESRCH) return Answer::NotStopped;
    if (count <= 0 || count > BPF_MAXINSNS) return Answer::NotKnown;
    const std::span filter(room_.data(), static_cast<size_t>(count));
    if (!spend(kReadingOne + filter.size())) return Answer::NotKnown;
    if (number < allowed_.size() && std::ranges::equal(filter, allowed_[number], are_same))
      continue;
    if (!spend(filter.size() * calls_.size())) return Answer::NotKnown;
    if (!judge(filter)) return Answer::Forbid;
    if (number == allowed_.size()) allowed_.emplace_back();
    allowed_[number].assign(filter.begin(), filter.end());
  }
  return Answer::NotKnown;
}

bool restart_is_forbidden(Tid tid, const user_regs_struct& regs) {
  if (static_cast<int64_t>(regs.orig_rax) < 0) return false;  // not in a call
  if (static_cast<int32_t>(regs.rax) != kRestartBlock) return false;
  const seccomp_data call = restart_of(regs);
  for (uint64_t index = 0; index < kFiltersMax; ++index) {
    const long count = trace(PTRACE_SECCOMP_GET_FILTER, tid, index, nullptr);
    if (count <= 0 || count > BPF_MAXINSNS) return false;  // that was the last one, or none
    std::vector<sock_filter> filter(static_cast<size_t>(count));
    if (trace(PTRACE_SECCOMP_GET_FILTER, tid, index, filter.data()) != count) return false;
    const auto answer = run_filter(filter, call);
    if (answer && !lets_through(*answer)) return true;
  }
  return false;
}

void begin_call_anew(user_regs_struct& regs) {
  regs.rax = static_cast<uint64_t>(kRestartNoHandler);
}

}  // namespace tracewell::target::live
