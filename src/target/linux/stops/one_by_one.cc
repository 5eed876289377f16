#include "target/linux/stops/one_by_one.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

#include <signal.h>

#include "target/linux/fast/fault_handlers.h"
#include "target/linux/threads/sample.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kBirthNs = 10 * kSecond;

bool is_moving(const Thread& thread) {
  return thread.run == Run::Running || thread.run == Run::Listening;
}

/// Neither ends nor stops the process: it has a handler, is ignored, or does nothing (signal(7)).
bool is_harmless(Tid tid, int signal) {
  if (signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH) return true;
  const auto status = read_proc(tid, "status");
  if (!status) return false;
  const uint64_t meant = signals_of(*status, "SigCgt") | signals_of(*status, "SigIgn");
  return (meant & bit_of(signal)) != 0;
}

}  // namespace

void OneByOne::set(bool on) {
  if (on_ && !on) {
    core_.stops.look_for_foreign_children();
    owner_.stop_all();
    for (Thread* thread : core_.threads.all()) {
      thread->stop_wanted.reset();
      thread->sampling = Sampling::No;
      thread->sample.reset();
    }
    core_.untold.rivals.clear();
    core_.untold.interrupt_wanted = false;
  }
  on_ = on;
  ended_ = false;
}

void OneByOne::want_stop(Thread& thread, StopEvent::Kind kind) {
  if (!thread.runs_on() || thread.run == Run::Exiting) return;
  if (thread.stop_wanted && thread.sampling != Sampling::No) thread.sampling = Sampling::ThenStop;
  if (thread.stop_wanted) return;
  thread.stop_wanted = kind;
  if (is_moving(thread)) ask_to_stop(thread);
  else core_.untold.is_something_pending = true;
}

void OneByOne::want_sample(Thread& thread) {
  if (!thread.resumed || thread.stop_wanted) return;
  want_stop(thread, StopEvent::Kind::Signal);
  if (thread.stop_wanted) thread.sampling = Sampling::Wanted;
}

void OneByOne::stop_sampled(Tid tid) {
  hold_all();
  Thread* const thread = core_.threads.find(tid);
  if (thread != nullptr && !is_moving(*thread)) thread->sample.reset();
  let_on();
}

bool OneByOne::is_undecided() const {
  const auto is_sampled = [](const Thread* thread) {
    return thread->sample != nullptr || thread->sampling == Sampling::Wanted;
  };
  return on_ && core_.wishes.pass_signals.none() &&
         std::ranges::any_of(core_.threads.all(), is_sampled);
}

bool OneByOne::passes(const Thread& thread, int signal) const {
  return is_undecided() && is_harmless(thread.tid, signal);
}

void OneByOne::want_none() {
  for (Thread* thread : core_.threads.all()) {
    thread->stop_wanted.reset();
    thread->sampling = Sampling::No;
  }
  core_.untold.interrupt_wanted = false;
}

void OneByOne::interrupt() {
  core_.untold.interrupt_wanted = false;
  for (Thread* thread : core_.threads.all()) {
    if (!thread->resumed || !seen(*thread->process)) continue;
    if (thread->run != Run::Exiting) return want_stop(*thread, StopEvent::Kind::Interrupted);
  }
}

bool OneByOne::due() {
  if (core_.threads.processes().empty()) return !core_.untold.gone.empty();
  return core_.untold.is_something_pending || core_.untold.interrupt_wanted || ended_ ||
         !core_.untold.gone.empty() || core_.stops.ready() != 0 || owner_.anything_runs();
}

void OneByOne::hold_all() {
  if (!on_) return;
  core_.stops.look_for_foreign_children();
  owner_.await_all_stopped();
  core_.untold.rivals.clear();  // each of them is told of
  for (Thread* thread : core_.threads.all())
    if (thread->run == Run::Stopped) core_.leading_out.settle(*thread);
}

/// Workers first: the first thread may be the one that all others wait for. And those last that
/// wait in the kernel (state D).
std::vector<Tid> OneByOne::those_to_hold(const AddressSpace& space) {
  constexpr size_t kLooksMax = 32;
  std::vector<Tid> able, waiting;
  for (const Thread* thread : core_.threads.all() | std::views::reverse) {
    if (thread->process->space.get() != &space || thread->process->leaving) continue;
    if (!thread->runs_on() || thread->run != Run::Running) continue;
    const auto status = proc_status(thread->tid);
    (status && status->state == 'D' ? waiting : able).push_back(thread->tid);
    if (able.size() + waiting.size() == kLooksMax) break;
  }
  std::ranges::copy(waiting, std::back_inserter(able));
  return able;
}

/// Where one does not stop soon, the next is asked, too. One that does not wait in the kernel only
/// lacks a processor, and has it before all of them have had one. Those that stop when nobody waits
/// for them any more have their turn among all other events.
void OneByOne::hold_one(AddressSpace& space) {
  constexpr size_t kAskedMax = 8;
  constexpr int64_t kEachNs = 5 * kMilli, kPauseNs = kMilli / 5, kMostNs = kSecond;
  const auto gets_on = [&](Tid tid) {
    const Thread* const thread = core_.threads.find(tid);
    const auto status = thread && thread->run == Run::Running ? proc_status(tid) : std::nullopt;
    return status && status->state != 'D';
  };
  core_.stops.look_for_foreign_children();
  const std::vector<Tid> able = those_to_hold(space);
  const int64_t begin = monotonic_ns();
  for (size_t asked = 0; core_.injector.injectable(space) == nullptr;) {
    const int64_t waited = monotonic_ns() - begin;
    const auto turns = static_cast<size_t>(waited / kEachNs);
    if (turns >= kAskedMax && (waited >= kMostNs || std::ranges::none_of(able, gets_on))) return;
    for (; asked < able.size() && asked <= std::min(turns, kAskedMax - 1); ++asked)
      if (Thread* const thread = core_.threads.find(able[asked]);
          thread && thread->run == Run::Running)
        ask_to_stop(*thread);
    if (asked == 0) return;
    if (core_.stops.take_each(std::span(able).first(asked)) == 0) pause_for(kPauseNs);
    owner_.park_ready();
  }
}

void OneByOne::let_on() {
  if (on_) owner_.start_resumed();
}

StopEvent OneByOne::stopped(Thread& thread, StopEvent event) {
  thread.resumed = false;
  thread.stop_wanted.reset();
  thread.sampling = Sampling::No;
  thread.sample.reset();
  core_.untold.last_told = thread.tid;
  ended_ = false;
  return event;
}

/// One that is sampled stands still for the copy alone.
StopEvent OneByOne::stopped_as_wanted(Thread& thread) {
  std::shared_ptr<Sample> sample;
  const Sampling sampling = thread.sampling;
  if (sampling != Sampling::No) sample = Sample::take(core_.registers, thread);
  const StopEvent event = stopped(thread, event_of(*thread.stop_wanted, thread));
  if (!sample) return event;
  thread.sample = sample;
  if (thread.run == Run::Stopped)
    core_.resumer.go(thread, std::exchange(thread.deferred_signal, 0));
  if (sampling == Sampling::ThenStop) want_stop(thread, StopEvent::Kind::Signal);
  return event;
}

std::optional<StopEvent> OneByOne::tell(Thread& thread, Decision decision) {
  if (decision.event) {
    core_.leading_out.settle(thread);
    // The child may be looked at, or told to run, as soon as it is known.
    if (decision.event->child_pid != 0)
      (void)core_.stops.await_within(decision.event->child_pid, kBirthNs);
    if (thread.resumed || thread.stop_wanted) return stopped(thread, *std::move(decision.event));
    thread.pending = std::move(decision.event);  // it was told to stand still already
    return std::nullopt;
  }
  if (thread.fresh) return std::nullopt;
  const bool stays = seen(*thread.process) && (!thread.runs_on() || thread.stop_wanted);
  if (!stays) {
    if (decision.signal == 0) decision.signal = std::exchange(thread.deferred_signal, 0);
    core_.resumer.go(thread, decision.signal);
    return std::nullopt;
  }
  if (thread.run != Run::Stopped) {  // half way through something; the request went with the stop
    if (is_moving(thread)) ask_to_stop(thread);
    return std::nullopt;
  }
  core_.leading_out.settle(thread);
  thread.deferred_signal = decision.signal;
  if (!thread.runs_on()) return std::nullopt;
  return stopped_as_wanted(thread);
}

std::optional<StopEvent> OneByOne::take_pending() {
  if (!core_.untold.gone.empty()) {
    StopEvent event = std::move(core_.untold.gone.front());
    core_.untold.gone.pop_front();
    if (event.kind != StopEvent::Kind::ThreadExited) ended_ = false;
    return event;
  }
  if (!core_.untold.is_something_pending) return std::nullopt;
  for (Thread* thread : core_.threads.all()) {
    const bool awaited = thread->resumed || thread->stop_wanted;
    if (!awaited || !seen(*thread->process)) continue;
    if (thread->pending) return stopped(*thread, *std::exchange(thread->pending, std::nullopt));
    // In the kernel, as inside vfork, it cannot be stopped, but it does nothing either.
    const bool stands = thread->run == Run::VforkWait || thread->run == Run::Late ||
                        (thread->run == Run::Stopped && !thread->fresh);
    if (thread->stop_wanted && stands) return stopped_as_wanted(*thread);
  }
  core_.untold.is_something_pending = false;
  return std::nullopt;
}

}  // namespace tracewell::target::live
