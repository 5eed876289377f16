// What is done about each stop, and what is told of it.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include "target/linux/inject/lent.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

/// A leader that has ended says so when the last of its threads has. If all of them stand still, by
/// our will and not about to die with it, that may be never.
bool leader_waits(const ThreadTable& threads, const Thread& leader) {
  if (leader.run != Run::Exiting || leader.tid != leader.process->pid) return false;
  for (const Thread* thread : threads.threads_of(*leader.process)) {
    siginfo_t info{};
    if (thread == &leader) continue;
    if (thread->run != Run::Stopped) return false;
    if (trace(PTRACE_GETSIGINFO, thread->tid, 0, &info) != 0 || is_leaving(info)) return false;
  }
  return leader.process->threads.size() > 1;
}

}  // namespace

void Tracer::on_status(Tid tid, int status) {
  const bool executes = WIFSTOPPED(status) && stop_event(status) == PTRACE_EVENT_EXEC;
  if (executes) core_.let_go.exec_happened(tid);
  if (core_.let_go.has(tid)) return on_let_go_status(tid, status);
  if (executes) exec_happened(tid);
  const uint64_t now = unborn_.tick();
  Thread* thread = core_.threads.find(tid);
  if (thread != nullptr && thread->exits && WIFSTOPPED(status) && unborn_.is_replaced(*thread)) {
    unborn_.forget(*thread);
    thread = nullptr;
  }
  if (thread == nullptr) return unborn_.note(tid, status);
  if (thread->child != 0) unborn_.orphan(unborn_.take_child(*thread), thread->process->space);
  if (!WIFSTOPPED(status)) {
    if (tid == thread->process->pid || thread->process->threads.size() == 1)
      return process_gone(*thread, status);
    if (core_.wishes.tell_threads && seen(*thread->process)) {
      core_.untold.gone.push_back(event_of(StopEvent::Kind::ThreadExited, *thread));
      core_.untold.gone.back().exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    }
    one_by_one_.note_end(*thread);
    const Thread* const leader = core_.threads.find(thread->process->pid);
    if (leader != nullptr && leader->exits) unborn_.leader_exits();
    return core_.threads.remove_thread(tid);
  }
  const uint64_t noted_before = std::exchange(thread->noted, now);
  if (tells_of_child(status))
    unborn_.tell(*thread, unborn_.told_by(tid, thread->process->pid, noted_before));
  thread->regs_state = Thread::Registers::Unknown;
  if (stop_event(status) == PTRACE_EVENT_EXIT) {
    if (tid == thread->process->pid) unborn_.leader_exits();
    thread->run = Run::Exiting;
    thread->exits = true;
    thread->fresh = false;
    if (core_.wishes.handler != nullptr && thread->process->space->fast)
      core_.wishes.handler->on_exit(tid);
    one_by_one_.note_end(*thread);
    trace(PTRACE_CONT, tid, 0, uint64_t{0});
    return;
  }
  if (thread->run == Run::Late) {
    if (thread->doing.lent() && !Lent::take_back(*thread, status)) return;
    renew_debug_registers(*thread);
  }
  thread->run = Run::Stopped;
  thread->regs_state = Thread::Registers::Unknown;
  thread->status = status;
  thread->fresh = true;
  core_.stops.add_ready(tid);
}

bool Tracer::anything_runs() const {
  for (const auto& [tid, thread] : core_.threads.by_number())
    if (thread->run != Run::Stopped && seen(*thread->process) &&
        !leader_waits(core_.threads, *thread))
      return true;
  return false;
}

/// The end of a thread is told to nobody before it was waited for, which is for its tracer to do.
int Tracer::look_after() {
  constexpr int kSoonMs = 20, kEndsMs = 100;
  constexpr size_t kBellsMax = 16;  // which come between the threads'
  const bool awaits_some = look_at_let_go();
  if (core_.threads.processes().empty()) return awaits_some ? kSoonMs : -1;
  core_.stops.look_for_foreign_children();
  core_.stops.take_ready(2 * core_.threads.by_number().size() + kBellsMax);
  if (!one_by_one_.on()) park_ready();
  const bool any_exits = std::ranges::any_of(
      core_.threads.by_number(), [](const auto& one) { return one.second->run == Run::Exiting; });
  return awaits_some || any_exits ? kSoonMs : kEndsMs;
}

std::optional<StopEvent> Tracer::handle_next() {
  Thread* thread = core_.threads.find(core_.stops.take_next_ready());
  if (thread == nullptr || !thread->fresh || thread->run != Run::Stopped) return std::nullopt;
  if (let_trap_come(*thread)) return std::nullopt;
  if (!one_by_one_.on() && !thread->resumed && seen(*thread->process)) {
    park(*thread);  // back from where nobody waited for it: it was not told to go on
    return std::nullopt;
  }
  thread->fresh = false;
  Decision decision = decider_.decide(*thread, false);
  if (one_by_one_.on()) return one_by_one_.tell(*thread, std::move(decision));
  if (decision.event) {
    core_.untold.rivals.clear();
    stop_all();
    if (decision.event->kind == StopEvent::Kind::Breakpoint) give_way(*decision.event);
    core_.untold.last_told = decision.event->tid;
  } else if (!thread->fresh) {
    core_.resumer.go(*thread, decision.signal);
  }
  return std::move(decision.event);
}

/// When several threads have run into breakpoints, all but one are taken back to run into theirs
/// again. So that it is not always the same one that is told of, they take turns.
void Tracer::give_way(StopEvent& event) {
  Thread* next = nullptr;
  // As turns from the last one that was told of.
  const auto later = [&](Tid tid) { return tid - core_.untold.last_told - 1; };
  for (const Tid tid : core_.untold.rivals) {
    Thread* thread = core_.threads.find(tid);
    if (thread == nullptr || thread->run != Run::Stopped) continue;
    const Tid best = next != nullptr ? next->tid : event.tid;
    if (static_cast<uint64_t>(later(tid)) < static_cast<uint64_t>(later(best))) next = thread;
  }
  if (next == nullptr) return;
  event = event_of(StopEvent::Kind::Breakpoint, *next);
  event.address = regs_of(*next).rip;
}

/// Once the last thread of a process is on its way out, the end of another is not told: there would
/// be no thread left for the debugger to let go on, and the end of the process is about to come.
void Tracer::forget_last_threads() {
  auto& gone = core_.untold.gone;
  if (gone.empty() || gone.front().kind != StopEvent::Kind::ThreadExited) return;
  await_all_stopped();
  std::erase_if(gone, [&](const StopEvent& event) {
    return event.kind == StopEvent::Kind::ThreadExited &&
           core_.threads.first_thread(event.pid) == nullptr;
  });
  start_resumed();
}

Result<std::optional<StopEvent>> Tracer::wait() {
  core_.stops.look_for_foreign_children();
  if (one_by_one_.on()) fast_.release_unwanted();
  bool woken = false;
  // How many of those that are ready get their turn before a wake or an interrupt is heard: all
  // that are there when it comes. Threads that are stepped in place stop each other, and there may
  // be others without end.
  constexpr size_t kNoLimit = SIZE_MAX;
  size_t turns = kNoLimit;
  bool after_tick = false;  // one may take longer than it is to the next: all else gets its turn
  for (;;) {
    core_.threads.forget_removed();
    unborn_.look();
    unborn_.see_off();
    if (!one_by_one_.on()) forget_last_threads();
    if (auto event = one_by_one_.on() ? one_by_one_.take_pending() : take_pending()) {
      if (!one_by_one_.on()) stop_all();
      core_.untold.last_told = event->tid;
      return event;
    }
    if (!woken && !after_tick && core_.stops.bell().answered()) {
      if (core_.stops.bell().take_tick() && core_.wishes.handler != nullptr &&
          core_.wishes.handler->on_tick() && fast_.may_stand_still())
        fast_.stand_still([this] { core_.wishes.handler->on_still(); });
      woken = core_.stops.bell().take_wake();
      // So that frequent calls do not keep the threads from their turn.
      core_.stops.collect_ready();
      if (woken) {
        turns = core_.stops.ready();
        continue;
      }
      for (size_t left = core_.stops.ready(); left > 0 && core_.stops.ready() != 0; --left)
        if (auto event = handle_next()) return event;
      after_tick = true;
      continue;
    }
    const bool may_wait = !std::exchange(after_tick, false);
    if (core_.untold.interrupt_wanted && turns == kNoLimit) turns = core_.stops.ready();
    if (core_.stops.ready() != 0 && turns != 0) {
      if (turns != kNoLimit) --turns;
      if (auto event = handle_next()) return event;
      continue;
    }
    if (core_.untold.interrupt_wanted && one_by_one_.on()) {
      one_by_one_.interrupt();
      continue;  // whoever stands still already is told at once
    }
    turns = kNoLimit;
    if (core_.untold.interrupt_wanted)
      if (auto event = interrupted_event()) return event;  // or all are on their way out
    if (woken) return std::optional<StopEvent>{};
    if (core_.stops.ready() != 0) continue;
    if (!anything_runs() && (!one_by_one_.on() || one_by_one_.take_ends()))
      return std::optional(event_of(StopEvent::Kind::NoneLeft, 0, 0));
    if (!may_wait) continue;
    std::optional<Nudger::Wait> nudged;
    if (core_.untold.interrupt_wanted || unborn_.any()) nudged.emplace(core_.stops.nudger());
    if (fast_.poll_pause_ns() != 0 && core_.wishes.handler != nullptr) {
      core_.wishes.handler->on_poll();
      if (!core_.stops.wait_once(false)) pause_for(fast_.poll_pause_ns());
    } else if (!core_.stops.wait_once(true)) {
      return errno_error("waitpid", Errc::Target);
    }
    if (core_.threads.by_number().size() > 1) core_.stops.collect_ready();
  }
}

}  // namespace tracewell::target::live
