#include <algorithm>
#include <cerrno>
#include <set>

#include <sys/wait.h>

#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

// Until an interrupt is told of a thread that is on its way out, since no other one stops.
constexpr int64_t kNoStopNs = 2 * kSecond, kNoStopAtEndNs = 300 * kMilli;

/// A signal for one that runs is sent, as where it is not about to get one: see deliverable().
void end_sample(Thread& thread, int signal) {
  thread.sample.reset();
  thread.stop_wanted.reset();
  if (thread.run == Run::Stopped || thread.run == Run::VforkWait || thread.run == Run::Late) return;
  thread.resumed = true;
  thread.action = ResumeAction::Kind::Continue;
  if (signal == 0) return;
  thread.injected = signal;
  tgkill(thread.process->pid, thread.tid, signal);
}

}  // namespace

void Tracer::look_again(Thread& thread) {
  if (thread.run != Run::Late || core_.stops.take_status(thread.tid) != Came::Status) return;
  if (thread.run == Run::Stopped && thread.fresh) park(thread);
}

void Tracer::park(Thread& thread) {
  if (let_trap_come(thread)) return;
  thread.fresh = false;
  Decision decision = decider_.decide(thread, true);
  if (thread.process->leaving) return core_.resumer.go(thread, decision.signal);
  if (thread.run != Run::Stopped) return;
  core_.leading_out.settle(thread);
  if (decision.event) {
    thread.pending = std::move(decision.event);
  } else {
    thread.deferred_signal = decision.signal;
  }
}

void Tracer::park_ready() {
  while (core_.stops.ready() != 0) {
    Thread* thread = core_.threads.find(core_.stops.take_next_ready());
    if (thread != nullptr && thread->fresh && thread->run == Run::Stopped) park(*thread);
  }
}

void Tracer::await_all_stopped() {
  core_.stopper.stop_all([this] { park_ready(); });
}

void Tracer::stop_all() {
  await_all_stopped();
  for (Thread* thread : core_.threads.all()) {
    if (thread->run == Run::Stopped) core_.leading_out.settle(*thread);
    thread->resumed = false;
    // What the debugger wants next is not known: it looks where the thread is.
    if (thread->pending && thread->pending->kind == StopEvent::Kind::Stepped)
      thread->pending.reset();
  }
}

Status Tracer::resume(std::span<const ResumeAction> actions) {
  core_.stops.look_for_foreign_children();
  fast_.release_unwanted();
  // An exec of another thread may have put a new program in the place of one that stood still.
  if (one_by_one_.on()) core_.stops.collect_ready();
  const auto is_there = [&](const ResumeAction& action) {
    const Thread* thread = core_.threads.find(action.tid);
    return thread != nullptr && seen(*thread->process);
  };
  // A thread may have been killed meanwhile: the others go on, and its end is told in its turn.
  if (!actions.empty() && core_.untold.gone.empty() && std::ranges::none_of(actions, is_there))
    return {Errc::NotFound, "no such thread"};
  // Whoever steps one believes to know where it is.
  for (const ResumeAction& action : actions)
    if (action.kind != ResumeAction::Kind::Continue && is_there(action) &&
        core_.threads.find(action.tid)->sample != nullptr)
      return only_a_sample(action.tid);
  for (const ResumeAction& action : actions) {
    Thread* thread = is_there(action) ? core_.threads.find(action.tid) : nullptr;
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
  core_.untold.is_something_pending = one_by_one_.on() || !core_.untold.gone.empty();
  for (Thread* thread : core_.threads.all()) {
    if (!thread->resumed || !thread->pending) continue;
    if (decider_.still_true(*thread)) {
      core_.untold.is_something_pending = true;
      continue;
    }
    if (thread->pending->kind == StopEvent::Kind::Signal && thread->deferred_signal == 0)
      thread->deferred_signal = thread->pending->signal;
    thread->pending.reset();
  }
  if (core_.untold.is_something_pending && !one_by_one_.on()) return;
  std::vector<Thread*> threads = core_.threads.all();
  // Whoever was told of last starts last, or it may always be the first at the next breakpoint.
  std::stable_partition(threads.begin(), threads.end(),
                        [&](const Thread* thread) { return thread->tid > core_.untold.last_told; });
  for (Thread* thread : threads) {
    if (thread->run != Run::Stopped || thread->fresh) continue;
    if (thread->runs_on() && (thread->pending || thread->stop_wanted)) continue;
    if (thread->runs_on() || !seen(*thread->process))
      core_.resumer.go(*thread, std::exchange(thread->deferred_signal, 0));
  }
}

std::optional<StopEvent> Tracer::take_pending() {
  if (!core_.untold.gone.empty()) {
    StopEvent event = std::move(core_.untold.gone.front());
    core_.untold.gone.pop_front();
    return event;
  }
  if (!std::exchange(core_.untold.is_something_pending, false)) return std::nullopt;
  for (Thread* thread : core_.threads.all())
    if (thread->resumed && thread->pending)
      return *std::exchange(thread->pending, std::nullopt);
  return std::nullopt;
}

/// The thread that a SIGINT from the terminal would mostly go to: the leader, if it runs.
std::optional<StopEvent> Tracer::interrupted_event() {
  std::set<Tid> running;
  for (const Thread* thread : core_.threads.all())
    if (thread->resumed && seen(*thread->process)) running.insert(thread->tid);
  stop_all();
  Thread* told = nullptr;
  int best = -1;
  for (Thread* thread : core_.threads.all()) {
    if (!seen(*thread->process) || thread->run == Run::Exiting) continue;
    const bool ran = running.contains(thread->tid);
    const int worth = (thread->run == Run::Late ? 0 : 2) + (ran ? 1 : 0);
    if (worth > best) told = thread;
    best = std::max(best, worth);
  }
  if (told == nullptr) {
    // A leader stays on its way out for as long as a thread lives that nobody traces.
    if (no_stop_ns_ == 0) no_stop_ns_ = monotonic_ns();
    const int64_t enough = core_.gives_up && core_.gives_up() ? kNoStopAtEndNs : kNoStopNs;
    if (monotonic_ns() - no_stop_ns_ < enough) return std::nullopt;
    for (Thread* thread : core_.threads.all())
      if (seen(*thread->process)) told = thread;
    if (told == nullptr) return std::nullopt;
  }
  no_stop_ns_ = 0;
  core_.untold.last_told = told->tid;
  core_.untold.interrupt_wanted = false;
  StopEvent event = event_of(StopEvent::Kind::Interrupted, *told);
  event.signal = SIGINT;
  return event;
}

}  // namespace tracewell::target::live
