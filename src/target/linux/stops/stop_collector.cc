// Collecting stops. waitpid(-1) sees every child of the calling thread, also those that somebody
// else in this program started and will wait for. While there are any, statuses are peeked at first
// and only ours are taken.
#include "target/linux/stops/stop_collector.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/open.h"
#include "target/linux/kernel/descriptors.h"
#include "target/linux/kernel/ptrace.h"

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
Status StopCollector::prepare() {
  struct sigaction action {};
  sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
  raise_descriptor_limit();
  TW_RETURN_IF_ERROR(nudger_.start());
  return bell_.hang_up();
}

bool StopCollector::has_foreign_children() const {
  const std::string text = own_children();
  const char* at = text.c_str();
  int used = 0;
  for (long pid = 0; std::sscanf(at, "%ld %n", &pid, &used) == 1; at += used) {
    if (pid == bell_.pid() || threads_.find(pid) != nullptr || dying_.contains(pid)) continue;
    if (was_let_go(pid)) continue;
    return true;
  }
  return false;
}

bool StopCollector::was_let_go(Tid tid) const {
  return std::ranges::find(let_go_, tid) != let_go_.end();
}

Tid StopCollector::take_next_ready() {
  const Tid next = ready_.front();
  ready_.pop_front();
  return next;
}

void StopCollector::note(Tid tid, int status) {
  if (tid == bell_.pid()) return bell_.on_status(status);
  if (dying_.contains(tid)) {
    if (!WIFSTOPPED(status) || trace(PTRACE_DETACH, tid, 0, uint64_t{0}) == 0) dying_.erase(tid);
    return;
  }
  receiver_.on_status(tid, status);
}

/// Only our own statuses are taken. A child of somebody else's that has ended stays in the way of
/// the blocking wait, so we then look at each of ours, a thousand times a second.
bool StopCollector::wait_carefully(bool block) {
  for (;;) {
    ++walks_done;
    siginfo_t seen{};
    const int options = WEXITED | WSTOPPED | WNOWAIT | kOurs | (block ? 0 : WNOHANG);
    if (waitid(P_ALL, 0, &seen, options) != 0) return errno == EINTR && block ? true : false;
    if (seen.si_pid == 0) return false;
    const Pid pid = seen.si_pid;
    const bool ours = threads_.find(pid) != nullptr || pid == bell_.pid() || dying_.contains(pid) ||
                      was_let_go(pid);
    const auto proc = ours ? std::nullopt : proc_status(pid);
    if (ours || seen.si_code == CLD_TRAPPED || (proc && proc->tracer == getpid())) {
      (void)take_status(pid);
      return true;
    }
    for (Thread* thread : threads_.all())
      if (take_status(thread->tid) == Came::Status) return true;
    for (const Tid tid : dying_)
      if (take_status(tid) == Came::Status) return true;
    for (const Tid tid : receiver_.others())
      if (take_status(tid) == Came::Status) return true;
    if (bell_.pid() != 0 && take_status(bell_.pid()) == Came::Status) return true;
    if (!block) return false;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

bool StopCollector::wait_once(bool block) {
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
Came StopCollector::take_status(Tid tid, int64_t awake_ns) {
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

size_t StopCollector::take_each(std::span<const Tid> tids) {
  return static_cast<size_t>(std::ranges::count_if(
      tids, [&](Tid tid) { return take_status(tid) == Came::Status; }));
}

void StopCollector::take_ready(size_t most) {
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
Waited StopCollector::await_within(Tid tid, int64_t patience_ns) {
  constexpr int64_t kAwakeNs = 200'000;
  std::optional<Nudger::Wait> nudged;
  Patience patience(patience_ns, gives_up_);
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
void StopCollector::see_off() {
  const Nudger::Wait nudged(nudger_);
  Patience patience(kDeathNs, gives_up_);
  while (!dying_.empty()) {
    bool any = false;
    for (const Tid tid : std::vector<Tid>(dying_.begin(), dying_.end())) {
      const Came came = take_status(tid);
      if (came == Came::NotOurs) dying_.erase(tid);
      any |= came != Came::Nothing;
    }
    if (any) continue;
    if (patience.over()) {
      for (const Tid one : dying_) receiver_.on_lingering(one);
      return dying_.clear();
    }
    if (!wait_once(true)) return dying_.clear();
  }
}

/// Takes what is ready. Whoever is gets its turn before those that are started meanwhile come back.
void StopCollector::collect_ready() { take_ready(threads_.by_number().size()); }

}  // namespace tracewell::target::live
