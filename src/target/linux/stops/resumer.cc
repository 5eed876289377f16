#include "target/linux/stops/resumer.h"

#include <cstdint>
#include <optional>

#include "target/linux/fast/fast_code.h"
#include "target/linux/fast/fault_handlers.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/threads/trap_flag.h"

namespace tracewell::target::live {
namespace {

/// A signal can be handed over only where one was about to be delivered. Elsewhere it is sent, and
/// passed when it comes back as a stop: the result is 0 then.
int deliverable(Thread& thread, int signal) {
  if (signal == 0 || is_signal_stop(thread.status)) return signal;
  thread.injected = signal;
  tgkill(thread.process->pid, thread.tid, signal);
  return 0;
}

}  // namespace

void Resumer::go(Thread& thread, int signal) {
  if (thread.run != Run::Stopped) return;
  if (thread.process->leaving) {
    if (let_trap_come(thread)) return;
    leading_out_.settle(thread);
    detach(thread, is_signal_stop(thread.status) ? signal : 0);
    return stops_.see_off();
  }
  signal = deliverable(thread, signal);
  Counted& counted = thread.counted;
  if (counted.here() && regs_of(thread).rip != *counted.here()) counted.drop();
  const std::optional<uint64_t> here = counted.here();
  Patch* patch = here ? thread.process->space->find(*here) : nullptr;
  const FastCode* const code = thread.process->space->fast.get();
  const auto behind = code != nullptr && here ? code->behind_slot(*here) : std::nullopt;
  if (here && patch == nullptr && !behind) counted.drop();
  const bool passes =
      patch != nullptr && (!patch->breakpoint || counted.decided() || !seen(*thread.process));
  const auto steps_original = [&] {
    return wants_step(thread) && thread.process->space->find(regs_of(thread).rip) == nullptr;
  };
  const auto start = [&](bool step, std::optional<uint64_t> from = {}) {
    if (FaultHandlers::is_of_a_fault(signal) && thread.process->space->fast &&
        !mender_.before_signal(thread, signal))
      return;
    starter_.start(thread, step, signal, from);
  };
  if (signal != 0 && (passes || steps_original()) && pop_flags(thread)) {
    if (counted.here()) counted.drop();
    return start(wants_step(thread));
  }
  if (signal != 0 && !counted.site()) stepper_.forget_handler(thread);
  // Whether a handler runs is the kernel's business. If one does, the thread stops at its start.
  if (signal != 0 && counted.site()) return start(true);
  if (passes) return stepper_.pass(thread, *here, *patch);
  if (behind && patch == nullptr) {
    counted.drop();
    set_pc(thread, *behind);
    return start(wants_step(thread), here);
  }
  start(wants_step(thread));
}

/// One that was killed a moment ago may want to stop once more on its way out: see_off().
void Resumer::detach(Thread& thread, int signal) {
  clear_debug_registers(thread);
  if (thread.doing.step() != nullptr) (void)regs_of(thread);  // without our trap flag
  avoid_forbidden_restart(thread);
  best_effort(flush_regs(thread));
  if (trace(PTRACE_DETACH, thread.tid, 0, static_cast<uint64_t>(signal)) != 0)
    stops_.add_dying(thread.tid);
  Process& process = *thread.process;
  threads_.remove_thread(thread.tid);
  if (process.threads.empty()) {
    if (process.our_child) stops_.add_let_go(process.pid);
    threads_.remove_process(process.pid);
  }
}

}  // namespace tracewell::target::live
