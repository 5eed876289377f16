#include "target/linux/lent.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

#include <linux/audit.h>

#include "target/linux/compat32.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kSignalSetBytes = 8;

}  // namespace

/// All but the registers. The sequence is aborted where the thread returns to the program, which is
/// behind a stop that it was asked for.
void Lent::give_rest_back(Pid pid, Tid tid) const {
  uint64_t mask = blocked;
  trace(PTRACE_SETSIGMASK, tid, kSignalSetBytes, &mask);
  if (options) trace(PTRACE_SETOPTIONS, tid, 0, *options);
  if (dispatch) (void)set_call_dispatch(tid, *dispatch);
  if (sequence) return_into(*sequence, tid);
  for (const int signal : sent) tgkill(pid, tid, signal);
}

bool Lent::take_back(Pid pid, Tid tid, int status) {
  user_regs_struct now{};
  if (stop_event(status) == 0 && stop_signal(status) == kSyscallStop && !skipped &&
      trace(PTRACE_GETREGS, tid, 0, &now) == 0 && static_cast<int64_t>(now.rax) == -ENOSYS) {
    skipped = true;  // at the entry
    now.orig_rax = ~uint64_t{0};
    trace(PTRACE_SETREGS, tid, 0, &now);
    trace(PTRACE_SYSCALL, tid, 0, uint64_t{0});
    return false;
  }
  trace(PTRACE_SETREGS, tid, 0, &regs);
  give_rest_back(pid, tid);
  return true;
}

void Lent::give_back(Tracer& tracer, Thread& thread) {
  const std::shared_ptr<Lent> lent = std::move(thread.lent);
  thread.regs = lent->regs;
  thread.regs_state = Thread::Registers::Changed;
  (void)tracer.flush_regs(thread);
  lent->give_rest_back(thread.process->pid, thread.tid);
}

bool Lent::take_back(Tracer& tracer, Thread& thread, int status) {
  if (stop_event(status) == 0 && stop_signal(status) == kSyscallStop && !thread.lent->skipped) {
    thread.regs_state = Thread::Registers::Unknown;
    if (static_cast<int64_t>(tracer.regs(thread).rax) == -ENOSYS) {  // at the entry
      thread.lent->skipped = true;
      thread.regs.orig_rax = ~uint64_t{0};
      thread.regs_state = Thread::Registers::Changed;
      (void)tracer.flush_regs(thread);
      trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
      return false;
    }
  }
  give_back(tracer, thread);
  return true;
}

/// Job control may come between, and signals from somewhere; what the instruction itself causes is
/// the end of it, since it was no call then.
bool Lent::run(Tracer& tracer, Thread& thread) {
  constexpr int kTriesMax = 64;
  bool asked = false;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    thread.run = Run::Running;
    thread.regs_state = Thread::Registers::Unknown;
    thread.asked = false;
    trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
    Waited waited = tracer.await_within(thread.tid, kCallNs);
    if (waited == Waited::GaveUp) {
      asked = true;
      trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
      waited = tracer.await_within(thread.tid, kCallNs);
    }
    if (waited == Waited::GaveUp) tracer.late.give_up(thread, '?');
    if (waited != Waited::Stopped) return false;
    thread.fresh = false;
    if (stop_event(thread.status) == 0 && stop_signal(thread.status) == kSyscallStop) return true;
    if (asked) return false;  // it runs through something else
    if (!is_signal_stop(thread.status)) continue;
    siginfo_t info{};
    if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) != 0 || info.si_code > 0) return false;
    thread.lent->sent.push_back(stop_signal(thread.status));
  }
  return false;
}

/// Whose numbers a call means is not told before Linux 5.3: it may be another call than it seems to
/// be then, which matters where a filter would have to see it.
bool Lent::stands_before(Tracer& tracer, Thread& thread, uint64_t pc, const uint64_t (&call)[7]) {
  const bool is_32_bit = thread.process->space->is_32_bit;
  const auto stop = call_stop(thread.tid);
  if (!stop) {
    const user_regs_struct& now = tracer.regs(thread);
    user_regs_struct ours = now;
    set_system_call(ours, call, is_32_bit);
    ours.orig_rax = call[0];
    ours.rax = now.rax;
    return !thread.lent->options && now.rip == pc && std::memcmp(&ours, &now, sizeof now) == 0;
  }
  const uint64_t word = is_32_bit ? ~uint32_t{0} : ~uint64_t{0};
  bool same = stop->side == CallStop::Side::Entry && stop->pc == pc &&
              stop->arch == (is_32_bit ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64);
  for (size_t i = 0; same && i < std::size(call); ++i)
    same = ((stop->call[i] ^ call[i]) & word) == 0;
  return same;
}

bool Lent::make_call(Tracer& tracer, Thread& thread, const uint64_t (&call)[7]) {
  const bool is_32_bit = thread.process->space->is_32_bit;
  const uint64_t pc = thread.regs.rip + sizeof system_calls(is_32_bit).instruction;
  if (!run(tracer, thread)) return false;
  const bool ours = stands_before(tracer, thread, pc, call);
  if (!ours) {
    (void)tracer.regs(thread);
    thread.regs.orig_rax = ~uint64_t{0};
    trace(PTRACE_SETREGS, thread.tid, 0, &thread.regs);
    thread.lent->skipped = true;
    (void)run(tracer, thread);
  }
  return ours && run(tracer, thread);
}

/// Filters and dispatchers of system calls are the program's, and not for ours.
Status Lent::lend(Tracer& tracer, Thread& thread) {
  auto lent = std::make_shared<Lent>();
  const uint64_t options = tracer.trace_options(!thread.process->attached);
  const auto status = proc_status(thread.tid);
  lent->dispatch = call_dispatch(thread.tid);
  if (lent->dispatch && !set_call_dispatch(thread.tid, {}))
    return errno_error("system calls are dispatched (PR_SET_SYSCALL_USER_DISPATCH)", Errc::Target);
  if (!status || status->seccomp != 0) {
    lent->options = options;
    if (trace(PTRACE_SETOPTIONS, thread.tid, 0, options | PTRACE_O_SUSPEND_SECCOMP) != 0) {
      const Error error = errno_error("system calls are filtered (seccomp)", Errc::Target);
      if (lent->dispatch) (void)set_call_dispatch(thread.tid, *lent->dispatch);
      return error;
    }
  }
  lent->regs = tracer.regs(thread);
  // Signals wait; but for those that an instruction causes: the kernel takes the handler of one
  // that is blocked away.
  trace(PTRACE_GETSIGMASK, thread.tid, kSignalSetBytes, &lent->blocked);
  uint64_t wait = ~uint64_t{0};
  for (const int signal : {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE})
    wait &= ~(uint64_t{1} << (signal - 1));
  wait |= lent->blocked;
  trace(PTRACE_SETSIGMASK, thread.tid, kSignalSetBytes, &wait);
  lent->sequence = leave_sequence(thread.tid);
  thread.lent = std::move(lent);
  return {};
}

}  // namespace tracewell::target::live
