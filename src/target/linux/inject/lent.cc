#include "target/linux/inject/lent.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <utility>

#include <linux/audit.h>

#include <fmt/format.h>

#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kSignalSetBytes = 8;

}  // namespace

/// All but the registers. The sequence is aborted where the thread returns to the program, which is
/// behind a stop that it was asked for.
void Lent::give_rest_back(Pid pid, Tid tid) const {
  uint64_t mask = blocked;
  trace(PTRACE_SETSIGMASK, tid, kSignalSetBytes, &mask);
  if (filtered) trace(PTRACE_SETOPTIONS, tid, 0, options);
  if (dispatch) (void)set_call_dispatch(tid, *dispatch);
  if (sequence) return_into(*sequence, tid);
  for (const siginfo_t& signal : sent) send_again(pid, tid, signal);
}

/// No call is made, and the filters do not see it: they might end the program for it.
void Lent::cancel_call(Tid tid, user_regs_struct& now) {
  skipped = true;
  now.orig_rax = ~uint64_t{0};
  trace(PTRACE_SETREGS, tid, 0, &now);
  if (filtered) (void)suspend_filters(tid);
}

bool Lent::suspend_filters(Tid tid) const {
  return trace(PTRACE_SETOPTIONS, tid, 0, options | PTRACE_O_SUSPEND_SECCOMP) == 0;
}

/// Not where the entry of a call cannot be told for sure.
bool Lent::can_suspend_filters(Tid tid) const {
  if (!call_stop(tid) || !suspend_filters(tid)) return false;
  return trace(PTRACE_SETOPTIONS, tid, 0, options) == 0;
}

bool Lent::take_back(Pid pid, Tid tid, int status) {
  user_regs_struct now{};
  if (stop_event(status) == 0 && stop_signal(status) == kSyscallStop && !skipped &&
      trace(PTRACE_GETREGS, tid, 0, &now) == 0 && static_cast<int64_t>(now.rax) == -ENOSYS) {
    cancel_call(tid, now);  // at the entry
    trace(PTRACE_SYSCALL, tid, 0, uint64_t{0});
    return false;
  }
  trace(PTRACE_SETREGS, tid, 0, &regs);
  give_rest_back(pid, tid);
  return true;
}

void Lent::give_back(Thread& thread) {
  const std::shared_ptr<Lent> lent = thread.doing.give_back();
  if (!lent) return;
  thread.regs = lent->regs;
  thread.regs_state = Thread::Registers::Changed;
  best_effort(flush_regs(thread));
  lent->give_rest_back(thread.process->pid, thread.tid);
}

bool Lent::take_back(Thread& thread, int status) {
  if (stop_event(status) == 0 && stop_signal(status) == kSyscallStop &&
      !thread.doing.lent()->skipped) {
    thread.regs_state = Thread::Registers::Unknown;
    if (static_cast<int64_t>(regs_of(thread).rax) == -ENOSYS) {  // at the entry
      thread.doing.lent()->cancel_call(thread.tid, thread.regs);
      trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
      return false;
    }
  }
  give_back(thread);
  return true;
}

/// Before Linux 5.3 it is not told whose numbers a call means, and registers have to do.
bool Lent::stands_before(Thread& thread, uint64_t pc, const uint64_t (&call)[7]) {
  const bool is_32_bit = thread.process->space->is_32_bit;
  const auto stop = call_stop(thread.tid);
  if (!stop) {
    const user_regs_struct& now = regs_of(thread);
    user_regs_struct ours = now;
    set_system_call(ours, call, is_32_bit);
    ours.orig_rax = call[0];
    ours.rax = now.rax;
    return !thread.doing.lent()->filtered && now.rip == pc &&
           std::memcmp(&ours, &now, sizeof now) == 0;
  }
  const uint64_t word = is_32_bit ? ~uint32_t{0} : ~uint64_t{0};
  bool same = stop->side == CallStop::Side::Entry && stop->pc == pc &&
              stop->arch == (is_32_bit ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64);
  for (size_t i = 0; same && i < std::size(call); ++i)
    same = ((stop->call[i] ^ call[i]) & word) == 0;
  return same;
}

/// Filters and dispatchers of system calls are the program's, and not for ours.
Status Lent::lend(Thread& thread) {
  if (!thread.doing.may(Doing::Turn::Lend))
    return {Errc::Target, fmt::format("thread {} is in the middle of something else", thread.tid)};
  auto lent = std::make_shared<Lent>();
  lent->options = trace_options(!thread.process->attached);
  const auto status = proc_status(thread.tid);
  lent->filtered = !status || status->seccomp != 0;
  if (lent->filtered && !lent->can_suspend_filters(thread.tid))
    return errno_error("system calls are filtered (seccomp)", Errc::Target);
  lent->dispatch = call_dispatch(thread.tid);
  // What cannot be given back is not taken: the program may guard itself by it.
  if (lent->dispatch && !(set_call_dispatch(thread.tid, *lent->dispatch) &&
                          set_call_dispatch(thread.tid, {})))
    return errno_error("system calls are dispatched (PR_SET_SYSCALL_USER_DISPATCH)", Errc::Target);
  lent->regs = regs_of(thread);
  // Signals wait; but for those that an instruction causes: the kernel takes the handler of one
  // that is blocked away.
  trace(PTRACE_GETSIGMASK, thread.tid, kSignalSetBytes, &lent->blocked);
  uint64_t wait = ~uint64_t{0};
  for (const int signal : {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE})
    wait &= ~(uint64_t{1} << (signal - 1));
  wait |= lent->blocked;
  trace(PTRACE_SETSIGMASK, thread.tid, kSignalSetBytes, &wait);
  lent->sequence = leave_sequence(thread.tid);
  thread.doing.lend(std::move(lent));
  return {};
}

}  // namespace tracewell::target::live
