#include "target/linux/programs/programs.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/programs/attaching.h"
#include "target/linux/stops/starter.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kVforkNs = kSecond;          // with children of vfork that run freely
constexpr int64_t kKillNs = 10 * kSecond, kKillAtEndNs = 2 * kSecond;

/// The process is about to go, and with it the stops that would tell of its forks: those are
/// children that nobody wants. Their numbers.
std::vector<Pid> unwant_children(const ThreadTable& threads, const Process& process) {
  std::vector<Pid> out;
  for (const Tid tid : process.threads) {
    Thread* thread = threads.find(tid);
    if (thread == nullptr || !thread->pending || thread->pending->child_pid == 0) continue;
    Process* child = threads.find_process(thread->pending->child_pid);
    thread->pending.reset();
    if (child == nullptr || !seen(*child)) continue;
    const std::vector<Pid> further = unwant_children(threads, *child);
    out.insert(out.end(), further.begin(), further.end());
    child->hidden = true;
    out.push_back(child->pid);
  }
  return out;
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

Result<StopEvent> Programs::attach(Pid pid) {
  if (threads_.find_process(pid) != nullptr)
    return {Errc::InvalidArgument, fmt::format("attached to process {} already", pid)};
  if (pid == getpid() || (pid == core_.options.front && pid != 0))
    return {Errc::InvalidArgument, fmt::format("process {} is this server", pid)};
  const auto status = proc_status(pid);
  if (pid <= 0 || !status) return why_not_attached(pid, ESRCH);
  if (status->tgid != pid)
    return {Errc::InvalidArgument,
            fmt::format("{} is a thread of process {}: attach to that", pid, status->tgid)};
  if (status->state == 'Z' && task_ids(pid).size() <= 1) return why_not_attached(pid, EPERM);
  TW_RETURN_IF_ERROR(stops_.prepare());
  stops_.look_for_foreign_children();
  (void)tracer_.look_at_let_go();
  if (Status stopped = Attaching(tracer_).seize_and_stop(pid); !stopped) {
    core_.untold.forget(pid);
    tracer_.unborn().see_off();
    return stopped.error();
  }
  core_.untold.forget(pid);
  Thread* first = threads_.first_thread(pid);
  StopEvent event = event_of(StopEvent::Kind::Signal, *first);
  core_.untold.last_told = first->tid;
  if (tracer_.one_by_one().on()) {  // it runs on until it is asked to stop
    for (Thread* thread : threads_.threads_of(*threads_.find_process(pid))) thread->resumed = true;
    tracer_.one_by_one().let_on();
  }
  return event;
}

/// Nobody debugs this memory any more: everything of ours goes, all its processes run on. Those
/// inside vfork mostly come out soon, since their children run freely now; whoever does not is let
/// go once it stops, or by the kernel when we end. Code that it may come back into stays.
void Programs::release(const std::shared_ptr<AddressSpace>& space) {
  // Stops that nobody awaited, such as the end of a vfork, have nothing to be decided about now.
  for (Thread* thread : threads_.all())
    if (thread->process->space == space && thread->run == Run::Stopped &&
        !is_signal_stop(thread->status))
      thread->fresh = false;
  // Where all stand by signals nobody could make the calls that take code of ours away.
  const bool has_ours = space->fast || space->has_copies();
  const auto taken = has_ours ? core_.injector.take_signal(*space) : std::nullopt;
  tracer_.fast().release(space);
  // Another stop came meanwhile: what that thread may run stays, and the sites go all the same.
  if (space->fast && !space->fast->stays_inside) {
    space->fast->stays_inside = true;
    tracer_.fast().release(space);
  }
  space->remove_all();
  if (!core_.late.may_return_into_ours(*space))
    if (Thread* thread = core_.injector.injectable(*space)) core_.arenas.unmap_all(*thread);
  if (taken) core_.injector.put_back(*taken);
  std::vector<Tid> waiting;
  for (Thread* thread : threads_.all()) {
    if (thread->process->space != space) continue;
    thread->process->leaving = true;
    if (thread->run == Run::VforkWait) waiting.push_back(thread->tid);
    if (thread->run == Run::Stopped)
      core_.resumer.detach(*thread, signal_for_detach(core_.wishes, *thread));
  }
  stops_.see_off();
  tracer_.fast().await_half_way(*space);
  const Nudger::Wait nudged(stops_.nudger());
  for (Patience patience(kVforkNs, core_.gives_up); const Tid tid : waiting) {
    patience.over();
    if (stops_.await_within(tid, kVforkNs - patience.waited_ns()) == Waited::Stopped)
      core_.resumer.go(*threads_.find(tid));
  }
  give_up_threads(tracer_, *space);
}

/// Children that nobody wants, once nobody is debugged whose memory they have.
void Programs::let_run(const std::vector<Pid>& children) {
  tracer_.release_orphans();
  for (const Pid pid : children)
    if (const Process* child = threads_.find_process(pid); child != nullptr && !child->leaving)
      for (Thread* thread : threads_.threads_of(*child)) {
        thread->resumed = true;
        if (thread->run == Run::Stopped && !thread->fresh) core_.resumer.go(*thread, 0);
      }
}

Status Programs::detach(Pid pid) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  stops_.look_for_foreign_children();
  std::vector<Tid> running;
  for (Thread* thread : threads_.all())
    if (thread->resumed && !tracer_.one_by_one().on()) running.push_back(thread->tid);
  if (tracer_.one_by_one().on()) {
    tracer_.one_by_one().hold_all();
  } else {
    tracer_.stop_all();
  }
  process = threads_.find_process(pid);
  if (process != nullptr) {
    const std::vector<Pid> children = unwant_children(threads_, *process);
    process->hidden = true;
    const std::shared_ptr<AddressSpace> space = process->space;
    const bool shared = std::ranges::any_of(threads_.processes(), [&](const auto& other) {
      return seen(*other.second) && other.second->space == space;
    });
    if (!shared) {
      release(space);
    } else {
      for (Thread* thread : threads_.threads_of(*process))
        if (thread->run == Run::Stopped)
          core_.resumer.go(*thread, signal_for_detach(core_.wishes, *thread));
    }
    let_run(children);
  }
  core_.untold.forget(pid);
  for (const Tid tid : running)
    if (Thread* thread = threads_.find(tid)) thread->resumed = true;
  tracer_.start_resumed();
  tracer_.unborn().see_off();
  return {};
}

Status Programs::kill(Pid pid) {
  Process* process = threads_.find_process(pid);
  if (process == nullptr || !seen(*process)) return {Errc::NotFound, "no such process"};
  stops_.look_for_foreign_children();
  const int refused = send_kill(*process);
  std::vector<Pid> children;
  if (refused == 0 || refused == ESRCH) children = unwant_children(threads_, *process);
  if (refused == ESRCH) threads_.remove_process(pid);
  else if (refused != 0)
    return errno_error(refused, fmt::format("kill process {}", pid), Errc::Target);
  const Nudger::Wait nudged(stops_.nudger());
  Patience patience(kKillNs, core_.gives_up, kKillAtEndNs);
  while (threads_.find_process(pid) == process) {
    if (patience.over())
      return {Errc::Target,
              fmt::format("process {} was killed, but does not end: it waits in the kernel", pid)};
    if (stops_.take_each(std::vector<Tid>(process->threads)) == 0 && !stops_.wait_once(true))
      return errno_error("waitpid", Errc::Target);
  }
  core_.untold.forget(pid);
  let_run(children);
  tracer_.one_by_one().forget_ends();
  tracer_.unborn().see_off();
  return {};
}

void Programs::stay_for_lent() {
  constexpr timespec kPause{0, 20 * kMilli};
  constexpr int64_t kUnguardedNs = 2 * kSecond;
  const int64_t begin = monotonic_ns();
  for (bool stays = false; const auto why = core_.let_go.reason_to_stay();) {
    if (!stays && monotonic_ns() - begin > kUnguardedNs) {
      stays = core_.options.stay && core_.options.stay(*why);
      if (!stays) return;
    }
    (void)tracer_.look_at_let_go();
    nanosleep(&kPause, nullptr);
  }
}

Programs::~Programs() {
  tracer_.fast().stop_ticks();
  std::vector<std::pair<Pid, bool>> ours;
  for (const auto& [pid, process] : threads_.processes())
    if (seen(*process)) ours.emplace_back(pid, process->attached);
  for (const auto& [pid, attached] : ours)
    if (attached) {
      best_effort(detach(pid));
    } else {
      best_effort(kill(pid));
    }
  tracer_.unborn().see_off();
  stay_for_lent();
}

}  // namespace tracewell::target::live
