#include "target/linux/stops/let_go.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/inject/lent.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/kernel/seccomp_filter.h"

namespace tracewell::target::live {

std::optional<bool> LetGo::take_back(Tid tid) {
  const auto it = leaving_.find(tid);
  if (it == leaving_.end()) return std::nullopt;
  const bool traps = it->second.has_traps;
  leaving_.erase(it);
  return traps;
}

bool LetGo::has_ours(Tid tid) const {
  const auto it = leaving_.find(tid);
  return it != leaving_.end() && (it->second.lent || it->second.half_way);
}

/// The caller has the leader's id from now on, and the new program's registers.
void LetGo::exec_happened(Tid leader) {
  unsigned long message = 0;
  if (trace(PTRACE_GETEVENTMSG, leader, 0, &message) != 0) return;
  const auto caller = static_cast<Tid>(message);
  const auto it = leaving_.find(caller);
  if (it == leaving_.end()) return;
  Leaving leaving = std::move(it->second);
  leaving.lent.reset();
  leaving_.erase(it);
  if (threads_.find(leader) == nullptr) leaving_[leader] = std::move(leaving);
}

void LetGo::add(const Thread& thread) {
  Leaving& leaving = leaving_[thread.tid];
  const LeavingCode* const out = thread.doing.leaving_code();
  leaving.has_traps = thread.doing.step() != nullptr || out != nullptr || thread.armed;
  leaving.pid = thread.process->pid;
  leaving.space = thread.process->space;
  if (out != nullptr) leaving.half_way = *out;
  leaving.lent = thread.doing.lent();
  if (thread.deferred_signal != 0)
    tgkill(thread.process->pid, thread.tid, thread.deferred_signal);
}

void LetGo::add(Tid tid) {
  const auto status = proc_status(tid);
  leaving_[tid] = {};
  leaving_[tid].pid = status ? status->tgid : 0;
}

/// Nobody has this id any more: it has ended, or has its leader's by now, which exec gave to it
/// before it tells of that.
void LetGo::follow(Tid gone, Pid pid) {
  const auto status = pid != 0 && pid != gone ? proc_status(pid) : std::nullopt;
  if (status && status->tracer == gettid() && threads_.find(pid) == nullptr) {
    leaving_[pid] = {};
    leaving_[pid].pid = pid;
  }
  leaving_.erase(gone);
}

bool LetGo::any_of(const std::function<bool(Pid)>& test) const {
  return std::ranges::any_of(leaving_, [&](const auto& one) { return test(one.second.pid); });
}

void LetGo::give_back(Tid tid, const Leaving& leaving) {
  if (!leaving.half_way) return;
  trace(PTRACE_SETSIGMASK, tid, sizeof leaving.half_way->blocked,
        const_cast<uint64_t*>(&leaving.half_way->blocked));
  for (const siginfo_t& signal : leaving.half_way->sent) send_again(leaving.pid, tid, signal);
}

/// A trap of a debug register or of a step of ours is none of the program's.
bool LetGo::on_status(Tid tid, int status) {
  uint64_t signal = is_signal_stop(status) ? static_cast<uint64_t>(stop_signal(status)) : 0;
  Leaving& leaving = leaving_[tid];
  if (WIFSTOPPED(status) && leaving.lent && !leaving.lent->take_back(leaving.pid, tid, status))
    return false;
  if (WIFSTOPPED(status)) give_back(tid, leaving);
  if (WIFSTOPPED(status) && leaving.has_traps) {
    siginfo_t info{};
    if (signal == SIGTRAP && trace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code > 0)
      signal = 0;
    trace(PTRACE_POKEUSER, tid, offsetof(user, u_debugreg) + 7 * sizeof(long), uint64_t{0});
  }
  user_regs_struct regs{};
  if (WIFSTOPPED(status) && trace(PTRACE_GETREGS, tid, 0, &regs) == 0 &&
      restart_is_forbidden(tid, regs)) {
    begin_call_anew(regs);
    trace(PTRACE_SETREGS, tid, 0, &regs);
  }
  if (WIFSTOPPED(status) && trace(PTRACE_DETACH, tid, 0, signal) != 0) return false;
  leaving_.erase(tid);
  return true;
}

void LetGo::release() {
  const std::map<Tid, Leaving> now = leaving_;
  for (const auto& [tid, leaving] : now)
    if (stops_.take_status(tid) == Came::NotOurs) follow(tid, leaving.pid);
}

std::optional<std::string> LetGo::reason_to_stay() const {
  const auto one = std::ranges::find_if(
      leaving_, [](const auto& each) { return each.second.lent || each.second.half_way; });
  if (one == leaving_.end()) return std::nullopt;
  return fmt::format("thread {} of process {} is in the middle of what "
                     "tracing made it do, and does not stop",
                     one->first, one->second.pid);
}

std::vector<Tid> LetGo::all() const {
  std::vector<Tid> out;
  for (const auto& [tid, leaving] : leaving_) out.push_back(tid);
  return out;
}

}  // namespace tracewell::target::live
