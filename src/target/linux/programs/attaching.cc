#include "target/linux/programs/attaching.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/process/urgency.h"
#include "target/linux/kernel/frozen.h"
#include "target/linux/memory/shared_memory.h"
#include "target/linux/programs/seize.h"
#include "target/linux/stops/starter.h"
#include "target/linux/threads/debug_registers.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kBusyNs = 30 * kSecond;      // with one that could, on a machine that is busy
constexpr int64_t kEndedLookNs = kMilli, kFrozenLookNs = kSecond / 5;
constexpr int kTries = 10;  // in the moment when exec changes who has the process's id

bool is_free(Pid pid) {
  const auto status = proc_status(pid);
  return status && status->tracer == 0 && status->state != 'Z' && status->state != 'X';
}

bool has_ended(Tid tid) {
  const auto status = proc_status(tid);
  return !status || status->state == 'Z' || status->state == 'X';
}

}  // namespace

Error why_not_attached(Pid pid, int why) {
  const auto status = proc_status(pid);
  if (!status || why == ESRCH)
    return {Errc::NotFound, fmt::format("there is no process {}", pid), {}};
  if (status->state == 'Z' || status->state == 'X')
    return {Errc::Target, fmt::format("process {} is a zombie: it has ended already", pid), {}};
  if (status->tracer != 0)
    return {Errc::Target,
            fmt::format("process {} is traced by process {} already", pid, status->tracer), {}};
  Error error = errno_error(why, fmt::format("cannot attach to process {}", pid), Errc::Target);
  const auto scope = read_proc(1, "../sys/kernel/yama/ptrace_scope");
  if (why == EPERM && scope && (*scope)[0] != '0') {
    error.message +=
        " (/proc/sys/kernel/yama/ptrace_scope forbids it: be root, or set it to 0)";
  } else if (why == EPERM) {
    error.message += " (it belongs to somebody else, or the kernel protects it)";
  }
  return error;
}

int signal_for_detach(const Wishes& wishes, Thread& thread) {
  if (!is_signal_stop(thread.status)) {
    if (thread.deferred_signal != 0)
      tgkill(thread.process->pid, thread.tid, thread.deferred_signal);
    return 0;
  }
  if (thread.deferred_signal != 0) return thread.deferred_signal;
  int signal = stop_signal(thread.status);
  if (thread.pending)
    signal = thread.pending->kind == StopEvent::Kind::Signal ? thread.pending->signal : 0;
  return wishes.program_signals.test(static_cast<size_t>(signal)) ? signal : 0;
}

void give_up_threads(Tracer& tracer, const AddressSpace& space) {
  for (Thread* thread : tracer.core().threads.all()) {
    if (thread->process->space.get() != &space) continue;
    if (thread->run == Run::Stopped)
      tracer.core().resumer.detach(*thread, signal_for_detach(tracer.core().wishes, *thread));
    else if (thread->run == Run::Exiting) {
      // Its end is still to come, and for us to take: nobody else is told of the process's before.
      tracer.core().let_go.add(thread->tid);
    } else {
      ask_to_stop(*thread);
      tracer.core().let_go.add(*thread);
    }
  }
  std::vector<Pid> gone;
  for (const auto& [pid, process] : tracer.core().threads.processes())
    if (process->space.get() == &space) gone.push_back(pid);
  for (const Pid pid : gone) tracer.core().threads.remove_process(pid);
}

/// One that the process had before it called exec, whose id the caller of that has now. We are not
/// told, since we did not trace that one.
bool Attaching::is_replaced(const Thread& leader) {
  return leader.run == Run::Exiting && leader.tid == leader.process->pid && is_free(leader.tid);
}

/// 0, or why not. What happens to those that we have already is taken note of while it waits.
int Attaching::seize_patiently(Tid tid) {
  for (;;) {
    const int why = seize_thread(stops_.nudger(), tid, trace_options(false));
    if (why != EINTR || patience_.over()) return why;
    while (stops_.wait_once(false)) {
    }
  }
}

/// The kernel may find a thread that calls exec, wait for that, and attach to it then: it has the
/// leader's id now, and there is nobody of its own. Nor is anybody told.
bool Attaching::is_ours(Tid tid) {
  siginfo_t info{};
  constexpr int kAsk = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD;
  return waitid(P_PID, static_cast<id_t>(tid), &info, kAsk) == 0;
}

/// An id that was found may be another one's by the time that it is seized; from then on it is
/// not, and we are told of exec. `shared`: the thread's process has this memory, if it is not null.
bool Attaching::is_of(Tid tid, Pid pid, const AddressSpace* shared) const {
  if (tgkill(pid, tid, 0) != 0 && errno != EPERM) return false;
  if (shared == nullptr) return true;
  for (const Thread* other : threads_.all())
    if (other->process->space.get() == shared && other->run == Run::Stopped)
      return shares_memory(other->tid, tid);
  return false;
}

/// With all that share its memory.
Error Attaching::give_up(Pid pid, std::string_view why) {
  if (Process* process = threads_.find_process(pid)) {
    give_up_threads(tracer_, *process->space);
    gave_up_ = true;
  }
  return {Errc::Target, fmt::format("cannot attach to process {}: {}", pid, why), {}};
}

/// All threads of a process, whose memory is `shared`, or its own if that is null.
Result<Process*> Attaching::seize(Pid pid, std::shared_ptr<AddressSpace> shared) {
  gave_up_ = false;
  const Nudger::Wait nudged(stops_.nudger());
  int refused = ESRCH;
  std::optional<Error> unreadable;
  for (bool found = true; found;) {  // threads may start others meanwhile
    found = false;
    for (Tid tid : task_ids(pid)) {
      if (const Thread* known = threads_.find(tid)) {
        if (!is_replaced(*known)) continue;
        threads_.remove_process(pid);
      }
      if (core_.let_go.has_ours(tid)) (void)stops_.take_status(tid);
      if (core_.let_go.has_ours(tid))  // its own registers would be lost
        return give_up(pid, fmt::format("its thread {} is still in the middle of what tracing made "
                                        "it do before, and does not stop", tid));
      const auto ours = core_.let_go.take_back(tid);  // it has not stopped since, and may now
      const int why = ours ? 0 : seize_patiently(tid);
      if (why == 0 && !is_ours(tid)) {
        threads_.remove_process(pid);  // what was known is of the old program
        shared = nullptr;
        tid = pid;
      }
      Process* process = threads_.find_process(pid);
      if (why == 0 && !is_of(tid, pid, process != nullptr ? nullptr : shared.get())) {
        trace(PTRACE_INTERRUPT, tid, 0, uint64_t{0});
        core_.let_go.add(tid);
        continue;
      }
      if (why == EINTR)
        return give_up(pid, "it is about to run another program (exec), and does not get there");
      if (why != 0) {
        const auto task = proc_status(tid);
        if (why == ESRCH || !task || task->state == 'Z' || task->state == 'X') continue;
        refused = why;
        continue;  // a new thread, attached with the one that started it; or all are refused
      }
      if (process == nullptr) {
        auto space = shared ? Result(shared) : AddressSpace::open(tid);
        if (!space.ok()) {
          trace(PTRACE_INTERRUPT, tid, 0, uint64_t{0});
          core_.let_go.add(tid);
          unreadable = std::move(space).error();  // it ends; another one may not
          continue;
        }
        process = &threads_.add_process(pid, *std::move(space));
        process->attached = true;
      }
      Thread& thread = threads_.add_thread(*process, tid);
      if (thread.run == Run::Starting) thread.run = Run::Running;
      thread.begun = true;
      thread.armed = ours.value_or(false);
      found = true;
    }
    if (found && patience_.over() && patience_.quitting()) break;
  }
  if (Process* process = threads_.find_process(pid)) return process;
  return unreadable && !has_ended(pid) ? *unreadable : why_not_attached(pid, refused);
}

/// Processes that share the memory of one that stands still: they run its patched code. True: look
/// again once they stand still, for what they have started before. A child is left alone until its
/// parent stands: it may be inside vfork, and stand only when the child is through.
Result<bool> Attaching::seize_sharers(Pid pid, std::set<Pid>& refused) {
  const Thread* first = threads_.first_thread(pid);
  if (first == nullptr) return false;
  std::map<Pid, Pid> parents;
  for (const Pid other : process_ids()) {
    if (threads_.find_process(other) != nullptr || refused.contains(other)) continue;
    if (strangers_.contains(other)) continue;
    if (!shares_memory(first->tid, other)) continue;
    if (const auto status = proc_status(other)) parents[other] = status->parent;
  }
  for (const auto& [other, parent] : parents) {
    if (parents.contains(parent)) continue;
    auto sharer = seize(other, first->process->space);
    if (gave_up_) return sharer.error();
    if (sharer.ok()) (*sharer)->hidden = true;
    else refused.insert(other);
  }
  tracer_.release_orphans();  // one may have run another program just then
  if (!parents.empty()) strangers_.clear();  // those that they have begun may have such an id
  return !parents.empty();
}

/// There may be thousands of processes, and the program need not stand still for a look at each.
/// All of its threads are traced by now: who shares its memory does so already, or has an id that
/// is not in use yet.
void Attaching::find_strangers(Pid pid) {
  strangers_.clear();
  const Thread* const first = threads_.first_thread(pid);
  if (first == nullptr) return;
  for (const Pid other : process_ids())
    if (threads_.find_process(other) == nullptr && has_other_memory(first->tid, other))
      strangers_.insert(other);
}

/// Non-stop: is there nothing that has to be looked at while threads stand still? From now on the
/// kernel tells of all threads and processes that they make, so there are no sharers but these.
bool Attaching::may_run_on(Pid pid) const {
  const Process* const process = threads_.find_process(pid);
  if (!tracer_.one_by_one().on() || process == nullptr || process->threads.empty()) return false;
  for (const Thread* thread : threads_.threads_of(*process))
    if (thread->armed || has_ended(thread->tid)) return false;
  const std::vector<Pid> others = process_ids();
  return std::ranges::none_of(others, [&](Pid other) {
    return threads_.find_process(other) == nullptr &&
           shares_memory(process->threads.front(), other);
  });
}

/// Until all threads of this memory have stopped. One that waits in the kernel and cannot be
/// interrupted (inside vfork, or for a file system that does not answer) stops when that is over,
/// which another user may have in hand.
Status Attaching::await_seized(const AddressSpace& space) {
  const int64_t begin = monotonic_ns();
  for (int64_t pause = kPauseMinNs;;) {
    std::vector<Tid> moving;
    const Thread* last = nullptr;
    for (Thread* thread : threads_.all()) {
      if (thread->process->space.get() != &space) continue;
      // A leader that had ended when it was seized has no stop to come, and no more to tell until
      // all others have ended.
      const bool may_have_ended = thread->tid == thread->process->pid && pause > kEndedLookNs;
      if (may_have_ended && thread->run == Run::Running && has_ended(thread->tid)) {
        thread->run = Run::Exiting;
        tracer_.unborn().leader_exits();
      }
      const Run run = thread->run;
      if (run == Run::Running || run == Run::Listening) ask_to_stop(*thread);
      if (run == Run::Stopped || run == Run::Exiting || run == Run::Late) continue;
      moving.push_back(thread->tid);
      last = thread;
    }
    if (moving.empty()) return {};
    if (2 * stops_.take_each(moving) >= moving.size()) continue;
    if (core_.gives_up && core_.gives_up()) return {Errc::Target, "the server is to end"};
    const int64_t waited = monotonic_ns() - begin;
    const auto status = waited > kFrozenLookNs ? proc_status(last->tid) : std::nullopt;
    const bool is_stuck = status && status->state == 'D';
    // Only who froze the group can end that, and a debugger waits for an answer.
    if (is_stuck && is_frozen(last->tid))
      return {Errc::Target,
              fmt::format("cannot attach to process {}: the control group of its thread {} is "
                          "frozen (as `docker pause` does); let it run on, and attach then",
                          last->process->pid, last->tid)};
    if (is_stuck && waited > kPatienceNs)
      return {Errc::Target,
              fmt::format("cannot attach to process {}: its thread {} waits in the kernel and "
                          "cannot be stopped (state D), as inside vfork(2) until the child goes on",
                          last->process->pid, last->tid)};
    if (waited > kBusyNs)
      return {Errc::Target, fmt::format("cannot attach to process {}: its thread {} does not stop",
                                        last->process->pid, last->tid)};
    pause_for(pause);
    pause = std::min(2 * pause, kPauseMaxNs);
    stops_.take_ready(SIZE_MAX);
  }
}

/// It may run another program meanwhile.
Status Attaching::seize_and_stop(Pid pid) {
  const Urgent urgent;
  const auto stop = [&]() -> Status {
    const Process* process = threads_.find_process(pid);
    const auto space = process != nullptr ? process->space : nullptr;
    if (!space) return {};
    if (Status stopped = await_seized(*space); !stopped) {
      give_up_threads(tracer_, *space);
      return stopped;
    }
    for (Thread* thread : threads_.all())
      if (thread->armed && thread->run == Run::Stopped) renew_debug_registers(*thread);
    tracer_.one_by_one().on() ? tracer_.one_by_one().hold_all() : tracer_.stop_all();
    return {};
  };
  int left = kTries;
  const Thread* leader = nullptr;
  do {
    auto seized = seize(pid, nullptr);
    for (; !seized.ok() && (core_.let_go.has(pid) || is_free(pid)) && left > 0; --left) {
      if (patience_.over()) break;
      pause_for(kPauseMaxNs);
      while (stops_.wait_once(false)) {
      }
      seized = seize(pid, nullptr);
    }
    TW_RETURN_IF_ERROR(seized);
    if (may_run_on(pid)) return {};
    find_strangers(pid);
    const uint64_t before = work_done;
    TW_RETURN_IF_ERROR(stop());
    // Only now: whoever was inside vfork has come out, and its child runs a program of its own.
    Patience sharers(kBusyNs, core_.gives_up);
    for (std::set<Pid> refused;;) {
      TW_ASSIGN_OR_RETURN(const bool more, seize_sharers(pid, refused));
      if (!more) break;
      if (sharers.over())
        return give_up(pid, "processes that share its memory begin again and again");
      TW_RETURN_IF_ERROR(stop());
    }
    work_standing = work_done - before;
    if (threads_.first_thread(pid) != nullptr) return {};
    leader = threads_.find(pid);
  } while (leader != nullptr && is_replaced(*leader) && !patience_.over());
  return {Errc::Target, fmt::format("process {} ended meanwhile", pid)};
}

}  // namespace tracewell::target::live
