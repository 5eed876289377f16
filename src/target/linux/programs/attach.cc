#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/urgency.h"
#include "target/linux/kernel/frozen.h"
#include "target/linux/memory/shared_memory.h"
#include "target/linux/programs/seize.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

Error why_not(Pid pid, int why) {
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

constexpr int64_t kPatienceNs = 10 * kSecond;  // with a thread that cannot stop
constexpr int64_t kBusyNs = 30 * kSecond;      // with one that could, on a machine that is busy
constexpr int64_t kEndedLookNs = kMilli, kFrozenLookNs = kSecond / 5;
constexpr int64_t kVforkNs = kSecond;          // with children of vfork that run freely
constexpr int64_t kKillNs = 10 * kSecond, kKillAtEndNs = 2 * kSecond;
constexpr int kTries = 10;  // in the moment when exec changes who has the process's id

bool is_free(Pid pid) {
  const auto status = proc_status(pid);
  return status && status->tracer == 0 && status->state != 'Z' && status->state != 'X';
}

bool has_ended(Tid tid) {
  const auto status = proc_status(tid);
  return !status || status->state == 'Z' || status->state == 'X';
}

/// The process is about to go, and with it the stops that would tell of its forks: those are
/// children that nobody wants. Their numbers.
std::vector<Pid> unwant_children(Tracer& tracer, const Process& process) {
  std::vector<Pid> out;
  for (const Tid tid : process.threads) {
    Thread* thread = tracer.threads().find(tid);
    if (thread == nullptr || !thread->pending || thread->pending->child_pid == 0) continue;
    Process* child = tracer.threads().find_process(thread->pending->child_pid);
    thread->pending.reset();
    if (child == nullptr || !seen(*child)) continue;
    const std::vector<Pid> further = unwant_children(tracer, *child);
    out.insert(out.end(), further.begin(), further.end());
    child->hidden = true;
    out.push_back(child->pid);
  }
  return out;
}

/// What the kernel is to deliver as the thread is let go: a signal that stopped it and that nobody
/// has decided about.
int signal_for_detach(const Tracer& tracer, Thread& thread) {
  if (!is_signal_stop(thread.status)) {
    if (thread.deferred_signal != 0)
      tgkill(thread.process->pid, thread.tid, thread.deferred_signal);
    return 0;
  }
  if (thread.deferred_signal != 0) return thread.deferred_signal;
  int signal = stop_signal(thread.status);
  if (thread.pending)
    signal = thread.pending->kind == StopEvent::Kind::Signal ? thread.pending->signal : 0;
  return tracer.wishes().program_signals.test(static_cast<size_t>(signal)) ? signal : 0;
}

/// Its id may be another one's by now: it has ended without our being told, where a thread that we
/// did not trace had called exec. ESRCH then.
int send_kill(const Process& process) {
  if (process.itself.valid()) {
    if (syscall(SYS_pidfd_send_signal, process.itself.get(), SIGKILL, nullptr, 0) == 0) return 0;
    return errno;
  }
  const auto is_traced = [](Tid tid) {
    const auto status = proc_status(tid);
    return status && status->tracer == gettid();
  };
  if (std::ranges::none_of(process.threads, is_traced)) return ESRCH;
  return ::kill(static_cast<pid_t>(process.pid), SIGKILL) == 0 ? 0 : errno;
}

}  // namespace

/// What attaching to one process takes.
class Attaching {
 public:
  explicit Attaching(Tracer& tracer) : tracer_(tracer), patience_(kPatienceNs, tracer.gives_up) {}
  Status seize_and_stop(Pid pid);

 private:
  static bool is_replaced(const Thread& leader);
  static bool is_ours(Tid tid);
  int seize_patiently(Tid tid);
  Result<Process*> seize(Pid pid, std::shared_ptr<AddressSpace> shared);
  bool is_of(Tid tid, Pid pid, const AddressSpace* shared) const;
  Error give_up(Pid pid, std::string_view why);
  Result<bool> seize_sharers(Pid pid, std::set<Pid>& refused);
  void find_strangers(Pid pid);
  bool may_run_on(Pid pid) const;
  Status await_seized(const AddressSpace& space);

  Tracer& tracer_;
  Patience patience_;
  std::set<Pid> strangers_;  // that share no memory with the process
  bool gave_up_ = false;     // everything that was attached, by the last seize()
};

/// One that the process had before it called exec, whose id the caller of that has now. We are not
/// told, since we did not trace that one.
bool Attaching::is_replaced(const Thread& leader) {
  return leader.run == Run::Exiting && leader.tid == leader.process->pid && is_free(leader.tid);
}

/// 0, or why not. What happens to those that we have already is taken note of while it waits.
int Attaching::seize_patiently(Tid tid) {
  for (;;) {
    const int why = seize_thread(tracer_.stops().nudger(), tid, trace_options(false));
    if (why != EINTR || patience_.over()) return why;
    while (tracer_.stops().wait_once(false)) {
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
  for (const Thread* other : tracer_.threads().all())
    if (other->process->space.get() == shared && other->run == Run::Stopped)
      return shares_memory(other->tid, tid);
  return false;
}

/// With all that share its memory.
Error Attaching::give_up(Pid pid, std::string_view why) {
  if (Process* process = tracer_.threads().find_process(pid)) {
    tracer_.give_up_threads(*process->space);
    gave_up_ = true;
  }
  return {Errc::Target, fmt::format("cannot attach to process {}: {}", pid, why), {}};
}

/// All threads of a process, whose memory is `shared`, or its own if that is null.
Result<Process*> Attaching::seize(Pid pid, std::shared_ptr<AddressSpace> shared) {
  gave_up_ = false;
  const Nudger::Wait nudged(tracer_.stops().nudger());
  int refused = ESRCH;
  std::optional<Error> unreadable;
  for (bool found = true; found;) {  // threads may start others meanwhile
    found = false;
    for (Tid tid : task_ids(pid)) {
      if (const Thread* known = tracer_.threads().find(tid)) {
        if (!is_replaced(*known)) continue;
        tracer_.threads().remove_process(pid);
      }
      if (tracer_.let_go().has_ours(tid)) (void)tracer_.stops().take_status(tid);
      if (tracer_.let_go().has_ours(tid))  // its own registers would be lost
        return give_up(pid, fmt::format("its thread {} is still in the middle of what tracing made "
                                        "it do before, and does not stop", tid));
      const auto ours = tracer_.let_go().take_back(tid);  // it has not stopped since, and may now
      const int why = ours ? 0 : seize_patiently(tid);
      if (why == 0 && !is_ours(tid)) {
        tracer_.threads().remove_process(pid);  // what was known is of the old program
        shared = nullptr;
        tid = pid;
      }
      Process* process = tracer_.threads().find_process(pid);
      if (why == 0 && !is_of(tid, pid, process != nullptr ? nullptr : shared.get())) {
        trace(PTRACE_INTERRUPT, tid, 0, uint64_t{0});
        tracer_.let_go().add(tid);
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
          tracer_.let_go().add(tid);
          unreadable = std::move(space).error();  // it ends; another one may not
          continue;
        }
        process = &tracer_.threads().add_process(pid, *std::move(space));
        process->attached = true;
      }
      Thread& thread = tracer_.threads().add_thread(*process, tid);
      if (thread.run == Run::Starting) thread.run = Run::Running;
      thread.begun = true;
      thread.armed = ours.value_or(false);
      found = true;
    }
    if (found && patience_.over() && patience_.quitting()) break;
  }
  if (Process* process = tracer_.threads().find_process(pid)) return process;
  return unreadable && !has_ended(pid) ? *unreadable : why_not(pid, refused);
}

/// Processes that share the memory of one that stands still: they run its patched code. True: look
/// again once they stand still, for what they have started before. A child is left alone until its
/// parent stands: it may be inside vfork, and stand only when the child is through.
Result<bool> Attaching::seize_sharers(Pid pid, std::set<Pid>& refused) {
  const Thread* first = tracer_.threads().first_thread(pid);
  if (first == nullptr) return false;
  std::map<Pid, Pid> parents;
  for (const Pid other : process_ids()) {
    if (tracer_.threads().find_process(other) != nullptr || refused.contains(other)) continue;
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
  const Thread* const first = tracer_.threads().first_thread(pid);
  if (first == nullptr) return;
  for (const Pid other : process_ids())
    if (tracer_.threads().find_process(other) == nullptr && has_other_memory(first->tid, other))
      strangers_.insert(other);
}

/// Non-stop: is there nothing that has to be looked at while threads stand still? From now on the
/// kernel tells of all threads and processes that they make, so there are no sharers but these.
bool Attaching::may_run_on(Pid pid) const {
  const Process* const process = tracer_.threads().find_process(pid);
  if (!tracer_.one_by_one().on() || process == nullptr || process->threads.empty()) return false;
  for (const Thread* thread : tracer_.threads().threads_of(*process))
    if (thread->armed || has_ended(thread->tid)) return false;
  const std::vector<Pid> others = process_ids();
  return std::ranges::none_of(others, [&](Pid other) {
    return tracer_.threads().find_process(other) == nullptr &&
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
    for (Thread* thread : tracer_.threads().all()) {
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
    if (2 * tracer_.stops().take_each(moving) >= moving.size()) continue;
    if (tracer_.gives_up && tracer_.gives_up()) return {Errc::Target, "the server is to end"};
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
    tracer_.stops().take_ready(SIZE_MAX);
  }
}

/// It may run another program meanwhile.
Status Attaching::seize_and_stop(Pid pid) {
  const Urgent urgent;
  const auto stop = [&]() -> Status {
    const Process* process = tracer_.threads().find_process(pid);
    const auto space = process != nullptr ? process->space : nullptr;
    if (!space) return {};
    if (Status stopped = await_seized(*space); !stopped) {
      tracer_.give_up_threads(*space);
      return stopped;
    }
    for (Thread* thread : tracer_.threads().all())
      if (thread->armed && thread->run == Run::Stopped) renew_debug_registers(*thread);
    tracer_.one_by_one().on() ? tracer_.one_by_one().hold_all() : tracer_.stop_all();
    return {};
  };
  int left = kTries;
  const Thread* leader = nullptr;
  do {
    auto seized = seize(pid, nullptr);
    for (; !seized.ok() && (tracer_.let_go().has(pid) || is_free(pid)) && left > 0; --left) {
      if (patience_.over()) break;
      pause_for(kPauseMaxNs);
      while (tracer_.stops().wait_once(false)) {
      }
      seized = seize(pid, nullptr);
    }
    TW_RETURN_IF_ERROR(seized);
    if (may_run_on(pid)) return {};
    find_strangers(pid);
    const uint64_t before = work_done;
    TW_RETURN_IF_ERROR(stop());
    // Only now: whoever was inside vfork has come out, and its child runs a program of its own.
    Patience sharers(kBusyNs, tracer_.gives_up);
    for (std::set<Pid> refused;;) {
      TW_ASSIGN_OR_RETURN(const bool more, seize_sharers(pid, refused));
      if (!more) break;
      if (sharers.over())
        return give_up(pid, "processes that share its memory begin again and again");
      TW_RETURN_IF_ERROR(stop());
    }
    work_standing = work_done - before;
    if (tracer_.threads().first_thread(pid) != nullptr) return {};
    leader = tracer_.threads().find(pid);
  } while (leader != nullptr && is_replaced(*leader) && !patience_.over());
  return {Errc::Target, fmt::format("process {} ended meanwhile", pid)};
}

/// All of this memory run on, those that have not stopped yet once they have.
void Tracer::give_up_threads(const AddressSpace& space) {
  for (Thread* thread : threads_.all()) {
    if (thread->process->space.get() != &space) continue;
    if (thread->run == Run::Stopped)
      detach_thread(*thread, signal_for_detach(*this, *thread));
    else if (thread->run != Run::Exiting) {
      ask_to_stop(*thread);
      let_go_.add(*thread);
    }
  }
  std::vector<Pid> gone;
  for (const auto& [pid, process] : threads_.processes())
    if (process->space.get() == &space) gone.push_back(pid);
  for (const Pid pid : gone) threads_.remove_process(pid);
}

Result<StopEvent> Tracer::attach(Pid pid) {
  if (threads_.find_process(pid) != nullptr)
    return {Errc::InvalidArgument, fmt::format("attached to process {} already", pid)};
  if (pid == getpid() || (pid == options_.front && pid != 0))
    return {Errc::InvalidArgument, fmt::format("process {} is this server", pid)};
  const auto status = proc_status(pid);
  if (pid <= 0 || !status) return why_not(pid, ESRCH);
  if (status->tgid != pid)
    return {Errc::InvalidArgument,
            fmt::format("{} is a thread of process {}: attach to that", pid, status->tgid)};
  if (status->state == 'Z' && task_ids(pid).size() <= 1) return why_not(pid, EPERM);
  TW_RETURN_IF_ERROR(stops_.prepare());
  stops_.look_for_foreign_children();
  (void)look_at_let_go();
  if (Status stopped = Attaching(*this).seize_and_stop(pid); !stopped) {
    untold_.forget(pid);
    unborn_.see_off();
    return stopped.error();
  }
  untold_.forget(pid);
  Thread* first = threads_.first_thread(pid);
  StopEvent event = event_of(StopEvent::Kind::Signal, *first);
  untold_.last_told = first->tid;
  if (one_by_one_.on()) {  // it runs on until it is asked to stop
    for (Thread* thread : threads_.threads_of(*threads_.find_process(pid))) thread->resumed = true;
    one_by_one_.let_on();
  }
  return event;
}

/// Nobody debugs this memory any more: everything of ours goes, all its processes run on. Those
/// inside vfork mostly come out soon, since their children run freely now; whoever does not is let
/// go once it stops, or by the kernel when we end. Code that it may come back into stays.
void Tracer::release(const std::shared_ptr<AddressSpace>& space) {
  // Stops that nobody awaited, such as the end of a vfork, have nothing to be decided about now.
  for (Thread* thread : threads_.all())
    if (thread->process->space == space && thread->run == Run::Stopped &&
        !is_signal_stop(thread->status))
      thread->fresh = false;
  fast_.release(space);
  // Another stop came meanwhile: what that thread may run stays, and the sites go all the same.
  if (space->fast && !space->fast->stays_inside) {
    space->fast->stays_inside = true;
    fast_.release(space);
  }
  space->remove_all();
  if (!late_.may_return_into_ours(*space))
    if (Thread* thread = injector_.injectable(*space)) arenas_.unmap_all(*thread);
  std::vector<Tid> waiting;
  for (Thread* thread : threads_.all()) {
    if (thread->process->space != space) continue;
    thread->process->leaving = true;
    if (thread->run == Run::VforkWait) waiting.push_back(thread->tid);
    if (thread->run == Run::Stopped) detach_thread(*thread, signal_for_detach(*this, *thread));
  }
  stops_.see_off();
  fast_.await_half_way(*space);
  const Nudger::Wait nudged(stops_.nudger());
  for (Patience patience(kVforkNs, gives_up); const Tid tid : waiting) {
    patience.over();
    if (stops_.await_within(tid, kVforkNs - patience.waited_ns()) == Waited::Stopped)
      go(*threads_.find(tid));
  }
  give_up_threads(*space);
}

/// Children that share memory with nobody who is debugged.
void Tracer::release_orphans() {
  std::vector<Process*> orphans;
  for (const auto& [pid, process] : threads_.processes()) {
    if (!process->hidden || process->leaving) continue;
    const bool kept = std::ranges::any_of(threads_.processes(), [&](const auto& other) {
      return seen(*other.second) && other.second->space == process->space;
    });
    if (!kept) orphans.push_back(process.get());
  }
  std::vector<Process*> with_code;
  std::ranges::copy_if(orphans, std::back_inserter(with_code),
                       [](const Process* process) { return process->space->fast != nullptr; });
  fast_.abandon(with_code);
  for (Process* process : orphans) {
    process->space->remove_all();
    process->leaving = true;
    for (Thread* thread : threads_.threads_of(*process)) {
      if (thread->run == Run::Running || thread->run == Run::Listening) ask_to_stop(*thread);
      if (thread->run == Run::Stopped && !thread->fresh)
        go(*thread, std::exchange(thread->deferred_signal, 0));
    }
  }
}

/// Children that nobody wants, once nobody is debugged whose memory they have.
void Tracer::let_run(const std::vector<Pid>& children) {
  release_orphans();
  for (const Pid pid : children)
    if (const Process* child = threads_.find_process(pid); child != nullptr && !child->leaving)
      for (Thread* thread : threads_.threads_of(*child)) {
        thread->resumed = true;
        if (thread->run == Run::Stopped && !thread->fresh) go(*thread, 0);
      }
}

Status Tracer::detach(Pid pid) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  stops_.look_for_foreign_children();
  std::vector<Tid> running;
  for (Thread* thread : threads_.all())
    if (thread->resumed && !one_by_one_.on()) running.push_back(thread->tid);
  if (one_by_one_.on()) {
    one_by_one_.hold_all();
  } else {
    stop_all();
  }
  process = threads_.find_process(pid);
  if (process != nullptr) {
    const std::vector<Pid> children = unwant_children(*this, *process);
    process->hidden = true;
    const std::shared_ptr<AddressSpace> space = process->space;
    const bool shared = std::ranges::any_of(threads_.processes(), [&](const auto& other) {
      return seen(*other.second) && other.second->space == space;
    });
    if (!shared) {
      release(space);
    } else {
      for (Thread* thread : threads_.threads_of(*process))
        if (thread->run == Run::Stopped) go(*thread, signal_for_detach(*this, *thread));
    }
    let_run(children);
  }
  untold_.forget(pid);
  for (const Tid tid : running)
    if (Thread* thread = threads_.find(tid)) thread->resumed = true;
  start_resumed();
  unborn_.see_off();
  return {};
}

Status Tracer::kill(Pid pid) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  stops_.look_for_foreign_children();
  const int refused = send_kill(*process);
  std::vector<Pid> children;
  if (refused == 0 || refused == ESRCH) children = unwant_children(*this, *process);
  if (refused == ESRCH) threads_.remove_process(pid);
  else if (refused != 0)
    return errno_error(refused, fmt::format("kill process {}", pid), Errc::Target);
  const Nudger::Wait nudged(stops_.nudger());
  Patience patience(kKillNs, gives_up, kKillAtEndNs);
  while (threads_.find_process(pid) == process) {
    if (patience.over())
      return {Errc::Target,
              fmt::format("process {} was killed, but does not end: it waits in the kernel", pid)};
    if (stops_.take_each(std::vector<Tid>(process->threads)) == 0 && !stops_.wait_once(true))
      return errno_error("waitpid", Errc::Target);
  }
  untold_.forget(pid);
  let_run(children);
  one_by_one_.forget_ends();
  unborn_.see_off();
  return {};
}

Tracer::~Tracer() {
  fast_.stop_ticks();
  std::vector<std::pair<Pid, bool>> ours;
  for (const auto& [pid, process] : threads_.processes())
    if (seen(*process)) ours.emplace_back(pid, process->attached);
  for (const auto& [pid, attached] : ours)
    if (attached) {
      (void)detach(pid);
    } else {
      (void)kill(pid);
    }
  unborn_.see_off();
  stay_for_lent();
}

}  // namespace tracewell::target::live
