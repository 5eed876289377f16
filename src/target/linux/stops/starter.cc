#include "target/linux/stops/starter.h"

#include <utility>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/kernel/seccomp_filter.h"
#include "target/linux/threads/caught_calls.h"
#include "target/linux/threads/trap_flag.h"

namespace tracewell::target::live {

void ask_to_stop(Thread& thread) {
  if (std::exchange(thread.asked, true)) return;
  trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
}

void avoid_forbidden_restart(Thread& thread) {
  if (!is_signal_stop(thread.status) && stop_event(thread.status) != kEventStop) return;
  user_regs_struct& regs = regs_of(thread);
  if (!restart_is_forbidden(thread.tid, regs)) return;
  begin_call_anew(regs);
  thread.regs_state = Thread::Registers::Changed;
}

bool wants_step(const Thread& thread) {
  return thread.trace_step ||
         (thread.resumed && thread.action != ResumeAction::Kind::Continue);
}

/// An interrupt overtakes the SIGTRAP of an int3 or of a step that has just happened: the pc is
/// behind the int3 already, and whoever looks at the thread now, or lets go of it, is misled.
bool let_trap_come(Thread& thread) {
  if (stop_event(thread.status) != kEventStop || !trap_is_pending(thread.tid)) return false;
  let_come(thread);
  return true;
}

void let_come(Thread& thread) {
  best_effort(flush_regs(thread));
  thread.run = Run::Running;
  thread.fresh = false;
  thread.asked = true;  // it stops by itself
  thread.left_group_stop = is_group_stop(thread.status);
  thread.regs_state = Thread::Registers::Unknown;
  trace(PTRACE_CONT, thread.tid, 0, uint64_t{0});
}

void Starter::start(Thread& thread, bool step, int signal, std::optional<uint64_t> from) {
  const bool vfork = stop_event(thread.status) == PTRACE_EVENT_VFORK;
  if (vfork && seen(*thread.process)) {
    thread.last_block.resize(registers_.map_of(*thread.process).layout().size_bytes);
    if (!registers_.read(thread, thread.last_block).ok()) thread.last_block.clear();
  }
  // A signal's handler comes before the instruction.
  if (step && signal == 0 && steps_into_caught_call(thread)) step = false;
  const SingleStep* const last = thread.doing.step();
  if (step || last != nullptr) (void)regs_of(thread);  // without our trap flag
  if (step) {
    const FastCode* const code = thread.process->space->fast.get();
    SingleStep next = look_at_flags(thread);
    next.enters_handler = signal != 0;
    if (code == nullptr || !code->inside(thread.regs.rip)) next.from = thread.regs.rip;
    else next.from = from || last == nullptr ? from : last->from;
    thread.doing.begin_step(next);
  } else {
    thread.doing.run();
  }
  avoid_forbidden_restart(thread);
  best_effort(flush_regs(thread));  // fails when it was killed, as does the next
  int request = step ? PTRACE_SINGLESTEP : PTRACE_CONT;
  if (!step && thread.watches_system_calls()) request = PTRACE_SYSCALL;
  thread.run = vfork ? Run::VforkWait : Run::Running;
  if (!step && is_group_stop(thread.status)) {
    request = PTRACE_LISTEN;
    thread.run = Run::Listening;
  }
  if (std::exchange(thread.left_group_stop, false) && request != PTRACE_LISTEN)
    trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});  // and it will be found in that stop
  if (request == PTRACE_CONT) thread.call.reset();  // its exit will not be seen
  thread.fresh = false;
  thread.asked = false;
  thread.regs_state = Thread::Registers::Unknown;
  trace(request, thread.tid, 0, static_cast<uint64_t>(signal));
}

}  // namespace tracewell::target::live
