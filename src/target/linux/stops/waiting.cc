// Collecting stops. waitpid(-1) sees every child of the calling thread, also those that somebody
// else in this program started and will wait for. While there are any, statuses are peeked at first
// and only ours are taken.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/open.h"
#include "target/linux/kernel/descriptors.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

constexpr int kOurs = __WALL | __WNOTHREAD;
constexpr int64_t kDeathNs = 5 * kSecond;

std::string own_children() {
  const auto fd = open_named("/proc/thread-self/children");
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while (fd.ok() && (got = read(fd->get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

}  // namespace

/// The kernel forgets the status of children whose parent ignores SIGCHLD, and whoever started us
/// may have left it so.
Status Tracer::prepare() {
  struct sigaction action {};
  sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
  raise_descriptor_limit();
  TW_RETURN_IF_ERROR(nudger_.start());
  return bell_.hang_up();
}

bool Tracer::has_foreign_children() {
  const std::string text = own_children();
  const char* at = text.c_str();
  int used = 0;
  for (long pid = 0; std::sscanf(at, "%ld %n", &pid, &used) == 1; at += used) {
    if (pid == bell_.pid() || threads_.find(pid) != nullptr || dying_.contains(pid)) continue;
    if (std::find(let_go_.begin(), let_go_.end(), pid) != let_go_.end()) continue;
    return true;
  }
  return false;
}

void Tracer::note(Tid tid, int status) {
  if (tid == bell_.pid()) return bell_.on_status(status);
  if (dying_.contains(tid)) {
    if (!WIFSTOPPED(status) || trace(PTRACE_DETACH, tid, 0, uint64_t{0}) == 0) dying_.erase(tid);
    return;
  }
  const bool executes = WIFSTOPPED(status) && stop_event(status) == PTRACE_EVENT_EXEC;
  if (executes) late_.exec_happened(tid);
  if (late_.is_leaving(tid)) return late_.on_status(tid, status);
  if (executes) exec_happened(tid);
  const uint64_t now = unborn_.tick();
  Thread* thread = threads_.find(tid);
  if (thread != nullptr && thread->exits && WIFSTOPPED(status) && unborn_.is_replaced(*thread)) {
    unborn_.forget(*thread);
    thread = nullptr;
  }
  if (thread == nullptr) return unborn_.note(tid, status);
  if (thread->child != 0) unborn_.orphan(unborn_.take_child(*thread), thread->process->space);
  if (!WIFSTOPPED(status)) {
    if (tid == thread->process->pid || thread->process->threads.size() == 1)
      return process_gone(*thread, status);
    if (wishes_.tell_threads && seen(*thread->process)) {
      gone_.push_back(event_of(StopEvent::Kind::ThreadExited, *thread));
      gone_.back().exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    }
    one_by_one_.note_end(*thread);
    const Thread* const leader = threads_.find(thread->process->pid);
    if (leader != nullptr && leader->exits) unborn_.leader_exits();
    return threads_.remove_thread(tid);
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
    if (wishes_.handler != nullptr && thread->process->space->fast) wishes_.handler->on_exit(tid);
    one_by_one_.note_end(*thread);
    trace(PTRACE_CONT, tid, 0, uint64_t{0});
    return;
  }
  if (thread->run == Run::Late && !late_.take_in(*thread, status)) return;
  thread->run = Run::Stopped;
  thread->regs_state = Thread::Registers::Unknown;
  thread->status = status;
  thread->fresh = true;
  ready_.push_back(tid);
}

/// Only our own statuses are taken. A child of somebody else's that has ended stays in the way of
/// the blocking wait, so we then look at each of ours, a thousand times a second.
bool Tracer::wait_carefully(bool block) {
  for (;;) {
    ++walks_done;
    siginfo_t seen{};
    const int options = WEXITED | WSTOPPED | WNOWAIT | kOurs | (block ? 0 : WNOHANG);
    if (waitid(P_ALL, 0, &seen, options) != 0) return errno == EINTR && block ? true : false;
    if (seen.si_pid == 0) return false;
    const Pid pid = seen.si_pid;
    const bool ours = threads_.find(pid) != nullptr || pid == bell_.pid() || dying_.contains(pid) ||
                      std::find(let_go_.begin(), let_go_.end(), pid) != let_go_.end();
    const auto proc = ours ? std::nullopt : proc_status(pid);
    if (ours || seen.si_code == CLD_TRAPPED || (proc && proc->tracer == getpid())) {
      (void)take_status(pid);
      return true;
    }
    for (Thread* thread : threads_.all())
      if (take_status(thread->tid) == Came::Status) return true;
    for (const Tid tid : dying_)
      if (take_status(tid) == Came::Status) return true;
    if (late_.release_one()) return true;
    if (bell_.pid() != 0 && take_status(bell_.pid()) == Came::Status) return true;
    if (!block) return false;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

bool Tracer::wait_once(bool block) {
  if (careful_) return wait_carefully(block);
  ++work_done;
  ++walks_done;
  int status = 0;
  const pid_t tid = waitpid(-1, &status, kOurs | (block ? 0 : WNOHANG));
  if (tid < 0) return errno == EINTR;
  if (tid == 0) return false;
  note(tid, status);
  return true;
}

/// One that comes within `awake_ns` is taken without going to sleep for it: a thread that makes a
/// step is back before another processor has woken up.
Came Tracer::take_status(Tid tid, int64_t awake_ns) {
  ++work_done;
  int status = 0;
  pid_t got = waitpid(static_cast<pid_t>(tid), &status, kOurs | WNOHANG);
  for (const int64_t until = awake_ns == 0 ? 0 : monotonic_ns() + awake_ns;
       got == 0 && awake_ns != 0 && monotonic_ns() < until;) {
    ::sched_yield();  // to itself, should it have none
    got = waitpid(static_cast<pid_t>(tid), &status, kOurs | WNOHANG);
  }
  if (got == 0 || (got < 0 && errno == EINTR)) return Came::Nothing;
  if (got < 0) return Came::NotOurs;
  note(tid, status);
  return Came::Status;
}

size_t Tracer::take_each(std::span<const Tid> tids) {
  return static_cast<size_t>(std::ranges::count_if(
      tids, [&](Tid tid) { return take_status(tid) == Came::Status; }));
}

void Tracer::take_ready(size_t most) {
  constexpr size_t kMany = 32;  // looks for any of many take longer than one for each of them
  for (size_t left = most, found = 0; left > 0 && wait_once(false); --left) {
    if (++found < kMany) continue;
    found = 0;
    std::vector<Tid> running;
    for (const auto& [tid, thread] : threads_.by_number())
      if (thread->run != Run::Stopped && running.size() < left) running.push_back(tid);
    left -= std::min(left - 1, take_each(running));
  }
}

/// Whatever comes is noted, also of other threads: when a process is killed, the end of its leader
/// is only told once all others have been waited for, and nobody but us can do that.
Waited Tracer::await_within(Tid tid, int64_t patience_ns) {
  constexpr int64_t kAwakeNs = 200'000;
  std::optional<Nudger::Wait> nudged;
  Patience patience(patience_ns, gives_up);
  const Thread* const awaited = threads_.find(tid);
  for (int64_t awake_ns = kAwakeNs;; awake_ns = 0) {
    // Who calls exec becomes another thread, also where it keeps the id.
    const Thread* thread = threads_.find(tid);
    if (thread == nullptr || thread != awaited || thread->run == Run::Exiting) return Waited::Gone;
    if (thread->run == Run::Stopped) return Waited::Stopped;
    const Came came = take_status(tid, awake_ns);
    if (came == Came::Status) continue;
    if (came == Came::NotOurs) return Waited::Gone;
    if (patience.over()) return Waited::GaveUp;
    if (!nudged) nudged.emplace(nudger_);
    if (!wait_once(true)) return Waited::Gone;
  }
}

/// They end in an order of their own, the leader of a process behind all others of it; one that
/// cannot be killed yet is left alone.
void Tracer::see_off() {
  const Nudger::Wait nudged(nudger_);
  Patience patience(kDeathNs, gives_up);
  while (!dying_.empty()) {
    bool any = false;
    for (const Tid tid : std::vector<Tid>(dying_.begin(), dying_.end())) {
      const Came came = take_status(tid);
      if (came == Came::NotOurs) dying_.erase(tid);
      any |= came != Came::Nothing;
    }
    if (any) continue;
    if (patience.over()) {
      for (const Tid one : dying_) late_.let_go(one);
      return dying_.clear();
    }
    if (!wait_once(true)) return dying_.clear();
  }
}

/// A leader that has ended says so when the last of its threads has. If all of them stand still, by
/// our will and not about to die with it, that may be never.
bool Tracer::leader_waits(const Thread& leader) {
  if (leader.run != Run::Exiting || leader.tid != leader.process->pid) return false;
  for (const Thread* thread : threads_.threads_of(*leader.process)) {
    siginfo_t info{};
    if (thread == &leader) continue;
    if (thread->run != Run::Stopped) return false;
    if (trace(PTRACE_GETSIGINFO, thread->tid, 0, &info) != 0 || is_leaving(info)) return false;
  }
  return leader.process->threads.size() > 1;
}

bool Tracer::anything_runs() {
  for (const auto& [tid, thread] : threads_.by_number())
    if (thread->run != Run::Stopped && seen(*thread->process) && !leader_waits(*thread))
      return true;
  return false;
}

/// Takes what is ready. Whoever is gets its turn before those that are started meanwhile come back.
void Tracer::collect_ready() { take_ready(threads_.by_number().size()); }

/// The end of a thread is told to nobody before it was waited for, which is for its tracer to do.
int Tracer::look_after() {
  constexpr int kSoonMs = 20, kEndsMs = 100;
  constexpr size_t kBellsMax = 16;  // which come between the threads'
  const bool awaits_some = late_.release();
  if (threads_.processes().empty()) return awaits_some ? kSoonMs : -1;
  careful_ = has_foreign_children();
  take_ready(2 * threads_.by_number().size() + kBellsMax);
  if (!one_by_one_.on()) park_ready();
  const bool any_exits = std::ranges::any_of(
      threads_.by_number(), [](const auto& one) { return one.second->run == Run::Exiting; });
  return awaits_some || any_exits ? kSoonMs : kEndsMs;
}

std::optional<StopEvent> Tracer::handle_next() {
  Thread* thread = threads_.find(ready_.front());
  ready_.pop_front();
  if (thread == nullptr || !thread->fresh || thread->run != Run::Stopped) return std::nullopt;
  if (let_trap_come(*thread)) return std::nullopt;
  if (!one_by_one_.on() && !thread->resumed && seen(*thread->process)) {
    park(*thread);  // back from where nobody waited for it: it was not told to go on
    return std::nullopt;
  }
  thread->fresh = false;
  Decision decision = decide(*thread, false);
  if (one_by_one_.on()) return one_by_one_.tell(*thread, std::move(decision));
  if (decision.event) {
    rivals_.clear();
    stop_all();
    if (decision.event->kind == StopEvent::Kind::Breakpoint) give_way(*decision.event);
    last_told_ = decision.event->tid;
  } else if (!thread->fresh) {
    go(*thread, decision.signal);
  }
  return std::move(decision.event);
}

/// When several threads have run into breakpoints, all but one are taken back to run into theirs
/// again. So that it is not always the same one that is told of, they take turns.
void Tracer::give_way(StopEvent& event) {
  Thread* next = nullptr;
  const auto later = [&](Tid tid) { return tid - last_told_ - 1; };  // as turns from the last
  for (const Tid tid : rivals_) {
    Thread* thread = threads_.find(tid);
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
  if (gone_.empty() || gone_.front().kind != StopEvent::Kind::ThreadExited) return;
  await_all_stopped();
  std::erase_if(gone_, [&](const StopEvent& event) {
    return event.kind == StopEvent::Kind::ThreadExited &&
           threads_.first_thread(event.pid) == nullptr;
  });
  start_resumed();
}

Result<std::optional<StopEvent>> Tracer::wait() {
  careful_ = has_foreign_children();
  if (one_by_one_.on()) fast_.release_unwanted();
  bool woken = false;
  // How many of those that are ready get their turn before a wake or an interrupt is heard: all
  // that are there when it comes. Threads that are stepped in place stop each other, and there may
  // be others without end.
  constexpr size_t kNoLimit = SIZE_MAX;
  size_t turns = kNoLimit;
  bool after_tick = false;  // one may take longer than it is to the next: all else gets its turn
  for (;;) {
    threads_.forget_removed();
    unborn_.look();
    unborn_.see_off();
    if (!one_by_one_.on()) forget_last_threads();
    if (auto event = one_by_one_.on() ? one_by_one_.take_pending() : take_pending()) {
      if (!one_by_one_.on()) stop_all();
      last_told_ = event->tid;
      return event;
    }
    if (!woken && !after_tick && bell_.answered()) {
      if (bell_.take_tick() && wishes_.handler != nullptr && wishes_.handler->on_tick() &&
          fast_.may_stand_still())
        fast_.stand_still([this] { wishes_.handler->on_still(); });
      woken = bell_.take_wake();
      collect_ready();  // so that frequent calls do not keep the threads from their turn
      if (woken) {
        turns = ready_.size();
        continue;
      }
      for (size_t left = ready_.size(); left > 0 && !ready_.empty(); --left)
        if (auto event = handle_next()) return event;
      after_tick = true;
      continue;
    }
    const bool may_wait = !std::exchange(after_tick, false);
    if (interrupt_wanted_ && turns == kNoLimit) turns = ready_.size();
    if (!ready_.empty() && turns != 0) {
      if (turns != kNoLimit) --turns;
      if (auto event = handle_next()) return event;
      continue;
    }
    if (interrupt_wanted_ && one_by_one_.on()) {
      one_by_one_.interrupt();
      continue;  // whoever stands still already is told at once
    }
    turns = kNoLimit;
    if (interrupt_wanted_)
      if (auto event = interrupted_event()) return event;  // or all are on their way out
    if (woken) return std::optional<StopEvent>{};
    if (!ready_.empty()) continue;
    if (!anything_runs() && (!one_by_one_.on() || one_by_one_.take_ends()))
      return std::optional(event_of(StopEvent::Kind::NoneLeft, 0, 0));
    if (!may_wait) continue;
    std::optional<Nudger::Wait> nudged;
    if (interrupt_wanted_ || unborn_.any()) nudged.emplace(nudger_);
    if (fast_.poll_pause_ns() != 0 && wishes_.handler != nullptr) {
      wishes_.handler->on_poll();
      if (!wait_once(false)) pause_for(fast_.poll_pause_ns());
    } else if (!wait_once(true)) {
      return errno_error("waitpid", Errc::Target);
    }
    if (threads_.by_number().size() > 1) collect_ready();
  }
}

}  // namespace tracewell::target::live
