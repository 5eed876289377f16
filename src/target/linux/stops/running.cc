#include <algorithm>
#include <cerrno>
#include <set>

#include <sys/wait.h>

#include "target/linux/threads/debug_registers.h"
#include "target/linux/threads/trap_flag.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

// Until an interrupt is told of a thread that is on its way out, since no other one stops.
constexpr int64_t kNoStopNs = 2 * kSecond, kNoStopAtEndNs = 300 * kMilli;

/// A signal can be handed over only where one was about to be delivered. Elsewhere it is sent, and
/// passed when it comes back as a stop: the result is 0 then.
int deliverable(Thread& thread, int signal) {
  if (signal == 0 || is_signal_stop(thread.status)) return signal;
  thread.injected = signal;
  tgkill(thread.process->pid, thread.tid, signal);
  return 0;
}

}  // namespace

void Tracer::go(Thread& thread, int signal) {
  if (thread.run != Run::Stopped) return;
  if (thread.process->leaving) {
    if (let_trap_come(thread)) return;
    settle(thread);
    detach_thread(thread, is_signal_stop(thread.status) ? signal : 0);
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
        !fast_.before_signal(thread, signal))
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

void Tracer::settle(Thread& thread) {
  if (thread.process->space->fast && thread.run == Run::Stopped) fast_.settle(thread);
  stepper_.settle(thread);
}

void Tracer::look_again(Thread& thread) {
  if (thread.run != Run::Late || stops_.take_status(thread.tid) != Came::Status) return;
  if (thread.run == Run::Stopped && thread.fresh) park(thread);
}

void Tracer::park(Thread& thread) {
  if (let_trap_come(thread)) return;
  thread.fresh = false;
  Decision decision = decide(thread, true);
  if (thread.process->leaving) return go(thread, decision.signal);
  if (thread.run != Run::Stopped) return;
  settle(thread);
  if (decision.event) {
    thread.pending = std::move(decision.event);
  } else {
    thread.deferred_signal = decision.signal;
  }
}

void Tracer::park_ready() {
  while (stops_.ready() != 0) {
    Thread* thread = threads_.find(stops_.take_next_ready());
    if (thread != nullptr && thread->fresh && thread->run == Run::Stopped) park(*thread);
  }
}

void Tracer::await_all_stopped() {
  stopper_.stop_all([this] { park_ready(); });
}

void Tracer::stop_all() {
  await_all_stopped();
  for (Thread* thread : threads_.all()) {
    if (thread->run == Run::Stopped) settle(*thread);
    thread->resumed = false;
    // What the debugger wants next is not known: it looks where the thread is.
    if (thread->pending && thread->pending->kind == StopEvent::Kind::Stepped)
      thread->pending.reset();
  }
}

/// A signal for one that runs is sent, as where it is not about to get one: see deliverable().
void Tracer::end_sample(Thread& thread, int signal) {
  thread.sample.reset();
  thread.stop_wanted.reset();
  if (thread.run == Run::Stopped || thread.run == Run::VforkWait || thread.run == Run::Late) return;
  thread.resumed = true;
  thread.action = ResumeAction::Kind::Continue;
  if (signal == 0) return;
  thread.injected = signal;
  tgkill(thread.process->pid, thread.tid, signal);
}

Status Tracer::resume(std::span<const ResumeAction> actions) {
  stops_.look_for_foreign_children();
  fast_.release_unwanted();
  // An exec of another thread may have put a new program in the place of one that stood still.
  if (one_by_one_.on()) stops_.collect_ready();
  const auto is_there = [&](const ResumeAction& action) {
    const Thread* thread = threads_.find(action.tid);
    return thread != nullptr && seen(*thread->process);
  };
  // A thread may have been killed meanwhile: the others go on, and its end is told in its turn.
  if (!actions.empty() && untold_.gone.empty() && std::ranges::none_of(actions, is_there))
    return {Errc::NotFound, "no such thread"};
  // Whoever steps one believes to know where it is.
  for (const ResumeAction& action : actions)
    if (action.kind != ResumeAction::Kind::Continue && is_there(action) &&
        threads_.find(action.tid)->sample != nullptr)
      return only_a_sample(action.tid);
  for (const ResumeAction& action : actions) {
    Thread* thread = is_there(action) ? threads_.find(action.tid) : nullptr;
    if (thread == nullptr) continue;
    look_again(*thread);
    if (thread->sample != nullptr) end_sample(*thread, action.signal);
    if (thread->run != Run::Stopped && thread->run != Run::VforkWait && thread->run != Run::Late)
      continue;
    if (one_by_one_.runs(*thread)) continue;
    thread->resumed = true;
    thread->action = action.kind;
    thread->range_start = action.range_start;
    thread->range_end = action.range_end;
    if (action.signal == 0) continue;
    if (thread->deferred_signal != 0)
      tgkill(thread->process->pid, thread->tid, thread->deferred_signal);
    thread->deferred_signal = action.signal;
  }
  start_resumed();
  return {};
}

void Tracer::start_resumed() {
  untold_.is_something_pending = one_by_one_.on() || !untold_.gone.empty();
  for (Thread* thread : threads_.all()) {
    if (!thread->resumed || !thread->pending) continue;
    if (still_true(*thread)) {
      untold_.is_something_pending = true;
      continue;
    }
    if (thread->pending->kind == StopEvent::Kind::Signal && thread->deferred_signal == 0)
      thread->deferred_signal = thread->pending->signal;
    thread->pending.reset();
  }
  if (untold_.is_something_pending && !one_by_one_.on()) return;
  std::vector<Thread*> threads = threads_.all();
  // Whoever was told of last starts last, or it may always be the first at the next breakpoint.
  std::stable_partition(threads.begin(), threads.end(),
                        [&](const Thread* thread) { return thread->tid > untold_.last_told; });
  for (Thread* thread : threads) {
    if (thread->run != Run::Stopped || thread->fresh) continue;
    if (thread->runs_on() && (thread->pending || thread->stop_wanted)) continue;
    if (thread->runs_on() || !seen(*thread->process))
      go(*thread, std::exchange(thread->deferred_signal, 0));
  }
}

bool Tracer::still_true(Thread& thread) {
  const StopEvent& event = *thread.pending;
  switch (event.kind) {
    case StopEvent::Kind::Signal: return !passes(thread, event.signal);
    case StopEvent::Kind::Breakpoint: {
      const Patch* patch = thread.process->space->find(event.address);
      return patch != nullptr && patch->breakpoint && regs_of(thread).rip == event.address;
    }
    case StopEvent::Kind::Hardware:
    case StopEvent::Kind::Watchpoint:
      for (const HardwareSlot& slot : thread.process->hardware)
        if (slot.users > 0 && slot.address == event.address) return true;
      return false;
    case StopEvent::Kind::SystemCallEntry:
    case StopEvent::Kind::SystemCallReturn: return catches(thread, event.system_call);
    case StopEvent::Kind::ThreadCreated: return wishes_.tell_threads;
    default: return true;
  }
}

std::optional<StopEvent> Tracer::take_pending() {
  if (!untold_.gone.empty()) {
    StopEvent event = std::move(untold_.gone.front());
    untold_.gone.pop_front();
    return event;
  }
  if (!std::exchange(untold_.is_something_pending, false)) return std::nullopt;
  for (Thread* thread : threads_.all())
    if (thread->resumed && thread->pending)
      return *std::exchange(thread->pending, std::nullopt);
  return std::nullopt;
}

/// The thread that a SIGINT from the terminal would mostly go to: the leader, if it runs.
std::optional<StopEvent> Tracer::interrupted_event() {
  std::set<Tid> running;
  for (const Thread* thread : threads_.all())
    if (thread->resumed && seen(*thread->process)) running.insert(thread->tid);
  stop_all();
  Thread* told = nullptr;
  int best = -1;
  for (Thread* thread : threads_.all()) {
    if (!seen(*thread->process) || thread->run == Run::Exiting) continue;
    const bool ran = running.contains(thread->tid);
    const int worth = (thread->run == Run::Late ? 0 : 2) + (ran ? 1 : 0);
    if (worth > best) told = thread;
    best = std::max(best, worth);
  }
  if (told == nullptr) {
    // A leader stays on its way out for as long as a thread lives that nobody traces.
    if (no_stop_ns_ == 0) no_stop_ns_ = monotonic_ns();
    const int64_t enough = gives_up && gives_up() ? kNoStopAtEndNs : kNoStopNs;
    if (monotonic_ns() - no_stop_ns_ < enough) return std::nullopt;
    for (Thread* thread : threads_.all())
      if (seen(*thread->process)) told = thread;
    if (told == nullptr) return std::nullopt;
  }
  no_stop_ns_ = 0;
  untold_.last_told = told->tid;
  untold_.interrupt_wanted = false;
  StopEvent event = event_of(StopEvent::Kind::Interrupted, *told);
  event.signal = SIGINT;
  return event;
}

/// One that was killed a moment ago may want to stop once more on its way out: see_off().
void Tracer::detach_thread(Thread& thread, int signal) {
  clear_debug_registers(thread);
  if (thread.doing.step() != nullptr) (void)regs_of(thread);  // without our trap flag
  avoid_forbidden_restart(thread);
  (void)flush_regs(thread);
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
