#include "target/linux/stops/unborn.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "target/linux/memory/shared_memory.h"

namespace tracewell::target::live {
namespace {

// An event follows the child's first stop at once, unless the creator does not get a processor.
constexpr int64_t kTellNs = 200 * kMilli, kLookNs = 20 * kMilli, kSeeOffNs = 2 * kSecond;
constexpr size_t kMemoriesMax = 64, kEndedMax = 1024;
constexpr int kReplacedToldMax = 20;  // a program may do that as often as it likes

/// No file of /proc is asked: there may be no descriptor left.
bool is_thread_of(Pid pid, Tid tid) { return tgkill(pid, tid, 0) == 0 || errno == EPERM; }

bool is_process(Tid tid) { return is_thread_of(tid, tid); }

/// A child has its creator's process as parent, or that one's parent (CLONE_PARENT), or is one of
/// its threads. What cannot be known may be.
bool may_have_made(Pid creator, const std::optional<ProcStatus>& child) {
  if (!child || child->tgid == creator || child->parent == creator) return true;
  const auto status = proc_status(creator);
  return !status || status->parent == child->parent;
}

}  // namespace

/// A child that we do not trace is none of these.
bool Unborn::is_ours(Tid tid) const {
  siginfo_t info{};
  constexpr int kAsk = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD;
  if (tid <= 0 || waitid(P_PID, static_cast<id_t>(tid), &info, kAsk) != 0) return false;
  const StopCollector& stops = core_.stops;
  return !stops.is_bell(tid) && !stops.is_dying(tid) && !stops.was_let_go(tid);
}

/// The leader's end waits for a thread that is left in its last stop. A process is left there, so
/// that nobody else gets its number before it was told.
void Unborn::note(Tid tid, int status) {
  const bool was_let_go = core_.stops.forget_let_go(tid);
  if (!WIFSTOPPED(status)) {
    const auto waiting = waiting_.extract(tid);
    const bool is_known = orphans_.erase(tid) > 0 || (!waiting.empty() && waiting.mapped().memory);
    if (const auto told = told_.find(tid); told != told_.end()) {
      if (Thread* creator = core_.threads.find(told->second)) creator->child = 0;
      told_.erase(told);
    } else if (!is_known && !was_let_go) {
      ended_[tid] = now_;
      if (ended_.size() > kEndedMax)
        ended_.erase(std::ranges::min_element(ended_, {}, &std::pair<const Tid, uint64_t>::second));
    }
    return;
  }
  One& one = waiting_[tid];
  if (one.since_ns == 0) {
    one.noted = now_;
    one.since_ns = monotonic_ns();
  }
  one.status = status;
  if (auto orphan = orphans_.extract(tid)) one.memory = std::move(orphan.mapped());
  if (stop_event(status) != PTRACE_EVENT_EXIT || is_process(tid)) return;
  waiting_.erase(tid);
  trace(PTRACE_CONT, tid, 0, uint64_t{0});
}

/// Had a child with this number ended before the creator stopped, so that it may be meant?
bool Unborn::is_second(Tid child, uint64_t noted) {
  const auto ended = ended_.find(child);
  if (ended == ended_.end() || ended->second < noted) return false;
  ended_.erase(ended);
  return true;
}

Tid Unborn::told_by(Tid creator, Pid pid, uint64_t noted) {
  unsigned long message = 0;
  if (trace(PTRACE_GETEVENTMSG, creator, 0, &message) != 0) return 0;
  const auto child = static_cast<Tid>(message);
  const bool second = is_second(child, noted);
  if ((!waiting_.contains(child) && !is_ours(child)) || told_.contains(child) ||
      orphans_.contains(child))
    return 0;
  if (second) {
    const auto status = proc_status(child);
    if (!status || (status->tgid != pid && status->parent != pid)) return 0;
  }
  const Thread* known = core_.threads.find(child);
  if (known != nullptr && (second || known->run != Run::Exiting)) return 0;
  if (known != nullptr) forget(*known);
  if (core_.let_go.has(child) && second) return 0;
  (void)core_.let_go.take_back(child);  // it was another one's number
  return child;
}

void Unborn::tell(Thread& creator, Tid child) {
  creator.child = child;
  if (child != 0) told_[child] = creator.tid;
}

Tid Unborn::take_child(Thread& creator) {
  const Tid child = std::exchange(creator.child, 0);
  told_.erase(child);
  return child;
}

std::optional<int> Unborn::take_status(Tid tid) {
  told_.erase(tid);
  orphans_.erase(tid);
  const auto waiting = waiting_.extract(tid);
  return waiting.empty() ? std::nullopt : std::optional(waiting.mapped().status);
}

void Unborn::orphan(Tid child, std::shared_ptr<AddressSpace> memory) {
  told_.erase(child);
  const auto waiting = waiting_.find(child);
  if (waiting != waiting_.end()) waiting->second.memory = std::move(memory);
  else orphans_[child] = std::move(memory);
}

void Unborn::memory_gone(const std::shared_ptr<AddressSpace>& memory) {
  const bool is_had = std::ranges::any_of(core_.threads.processes(), [&](const auto& one) {
    return one.second->space == memory;
  });
  if (memory == nullptr || is_had || !memory->has_left_traps()) return;
  if (std::ranges::find(gone_, memory) != gone_.end()) return;
  memory->close();
  gone_.push_back(memory);
  if (gone_.size() > kMemoriesMax) gone_.pop_front();
}

bool Unborn::is_replaced(const Thread& thread) const {
  const Process& process = *thread.process;
  if (thread.tid != process.pid) return true;
  const int itself = process.itself.get();
  return itself >= 0 && syscall(SYS_pidfd_send_signal, itself, 0, nullptr, 0) != 0 &&
         errno == ESRCH;
}

void Unborn::forget(const Thread& replaced) {
  const Process& process = *replaced.process;
  if (replaced.tid != process.pid) return core_.threads.remove_thread(replaced.tid);
  if (core_.options.notice && seen(process) && ++said_ <= kReplacedToldMax)
    core_.options.notice(fmt::format("process {} was replaced by another program (exec), by a "
                                        "thread that is not traced: it counts as ended",
                                        process.pid));
  Thread& leader = *core_.threads.find(replaced.tid);
  for (const Tid tid : std::vector<Tid>(process.threads))
    if (tid != leader.tid) core_.threads.remove_thread(tid);
  owner_.process_gone(leader, 0);
}

/// The kernel says nothing of it when the last thread of a process takes its leader's place.
void Unborn::forget_lone_leaders() {
  std::vector<Pid> lone;
  for (const auto& [pid, process] : core_.threads.processes()) {
    const Thread* leader = core_.threads.find(pid);
    if (leader != nullptr && leader->run == Run::Exiting && process->threads.size() == 1)
      lone.push_back(pid);
  }
  has_lone_leaders_ = false;
  for (const Pid pid : lone) {
    const Thread* leader = core_.threads.find(pid);
    if (leader == nullptr) continue;
    const auto status = proc_status(pid);  // its parent may be who asks, and waits for it anyway
    if (is_ours(pid) && (!status || status->tracer == gettid())) has_lone_leaders_ = true;
    else forget(*leader);
  }
}

/// Is somebody left who may be its creator? Those are asked to stop: who has not told then is not.
bool Unborn::may_be_told(Tid tid, const One& one) {
  if (told_.contains(tid)) return true;
  const auto status = proc_status(tid);
  bool some = false;
  for (const auto& [pid, process] : core_.threads.processes()) {
    std::vector<Thread*> threads = core_.threads.threads_of(*process);
    std::erase_if(threads, [&](const Thread* thread) {
      return (thread->run != Run::Running && thread->run != Run::Late) ||
             thread->noted > one.noted;
    });
    if (threads.empty() || !may_have_made(pid, status)) continue;
    for (Thread* thread : threads)
      if (thread->run == Run::Running) ask_to_stop(*thread);
    some = true;
  }
  return some || core_.let_go.any_of([&](Pid pid) { return may_have_made(pid, status); });
}

/// nullptr: it has its memory for itself, as far as we trace.
std::shared_ptr<AddressSpace> Unborn::shared_by(Tid tid) const {
  std::vector<std::shared_ptr<AddressSpace>> asked;
  for (const Thread* thread : core_.threads.all()) {
    const auto& space = thread->process->space;
    if (thread->run == Run::Exiting || std::ranges::find(asked, space) != asked.end()) continue;
    asked.push_back(space);
    if (shares_memory(thread->tid, tid)) return space;
  }
  return nullptr;
}

/// Whose copy it is, by the traps in it. Not another user's, who decides what is under a trap: the
/// memories of root's programs and of the same user's are looked at.
std::shared_ptr<AddressSpace> Unborn::origin_of(const AddressSpace& copy) const {
  std::vector<std::shared_ptr<AddressSpace>> memories(gone_.rbegin(), gone_.rend());
  for (const auto& [pid, process] : core_.threads.processes())
    memories.push_back(process->space);
  std::shared_ptr<AddressSpace> best;
  size_t most = 0;
  for (const auto& memory : memories) {
    if (memory->owner != copy.owner && memory->owner != 0u) continue;
    const size_t traps = memory->traps_in(copy);
    if (traps > most) best = memory;
    most = std::max(most, traps);
  }
  return best;
}

/// Of its parent, which mostly is its creator.
std::shared_ptr<AddressSpace> Unborn::creators_memory(Tid tid) const {
  const auto status = proc_status(tid);
  const Process* parent = status ? core_.threads.find_process(status->parent) : nullptr;
  return parent != nullptr ? parent->space : nullptr;
}

/// Like a child that was told of, and that the debugger does not want.
void Unborn::let_go(Tid tid) {
  const auto waiting = waiting_.find(tid);
  if (waiting == waiting_.end()) return;
  if (stop_event(waiting->second.status) == PTRACE_EVENT_EXIT) {
    waiting_.erase(waiting);
    trace(PTRACE_CONT, tid, 0, uint64_t{0});
    return;
  }
  for (const auto& [pid, process] : core_.threads.processes()) {
    if (pid == tid || !is_thread_of(pid, tid)) continue;
    core_.threads.add_thread(*process, tid).resumed = true;
    return;
  }
  if (const auto space = shared_by(tid)) {
    Process& born = core_.threads.add_process(tid, space);
    born.hidden = born.beside = true;
    core_.threads.add_thread(born, tid);
    return owner_.release_orphans();
  }
  const auto memory = waiting->second.memory;
  auto space = open_memory(tid, memory ? memory : creators_memory(tid), false);
  const auto still = waiting_.find(tid);
  if (!space.ok()) {  // perhaps there is a descriptor later
    if (still != waiting_.end()) still->second.since_ns = monotonic_ns();
    return;
  }
  const auto origin = memory ? memory : origin_of(**space);
  if (origin) {
    user_regs_struct regs{};
    (*space)->adopt_from_fork(*origin, false);
    (*space)->returns_into_inherited =
        trace(PTRACE_GETREGS, tid, 0, &regs) != 0 || origin->may_return_into_hit(regs.rip);
  }
  if ((*space)->is_spare) (*space)->close();
  Process& born = core_.threads.add_process(tid, *std::move(space));
  born.leaving = true;
  core_.threads.add_thread(born, tid);
  finish(tid);
}

/// Its first stop needs no turn.
void Unborn::finish(Tid tid) {
  Thread* thread = core_.threads.find(tid);
  if (thread == nullptr || thread->run != Run::Stopped || !thread->fresh) return;
  thread->fresh = false;
  const Decision decision = owner_.decide(*thread, true);
  if (core_.threads.find(tid) == thread) core_.resumer.go(*thread, decision.signal);
}

void Unborn::look() {
  if (!any()) return;
  const int64_t now = monotonic_ns();
  if (now - looked_ns_ < kLookNs) return;
  looked_ns_ = now;
  if (has_lone_leaders_) forget_lone_leaders();
  std::vector<Tid> due;
  for (const auto& [tid, one] : waiting_)
    if (one.memory || now - one.since_ns >= kTellNs) due.push_back(tid);
  for (const Tid tid : due) {
    const auto waiting = waiting_.find(tid);
    if (waiting == waiting_.end()) continue;
    if (waiting->second.memory || !may_be_told(tid, waiting->second)) let_go(tid);
  }
}

bool Unborn::has_strangers() const {
  return std::ranges::any_of(process_ids(), [this](Pid pid) {
    if (core_.stops.is_bell(pid) || core_.threads.find(pid) != nullptr ||
        core_.stops.is_dying(pid) || core_.let_go.has(pid))
      return false;
    const auto status = proc_status(pid);
    return status && status->tracer == gettid() && status->state != 'Z';
  });
}

void Unborn::see_off() {
  if (!std::exchange(has_one_gone_, false)) return;
  const auto is_seen = [](const auto& one) { return seen(*one.second); };
  if (std::ranges::any_of(core_.threads.processes(), is_seen)) return;
  // Who was let go is somebody else's child by now, and how it ends is for that one to hear.
  core_.stops.look_for_foreign_children();
  for (Patience patience(kSeeOffNs, core_.gives_up); !patience.over(); pause_for(kPauseMaxNs)) {
    core_.stops.take_ready(SIZE_MAX);
    while (core_.stops.ready() != 0) finish(core_.stops.take_next_ready());
    for (auto& [tid, one] : waiting_) one.since_ns = 1;
    looked_ns_ = 0;
    look();
    if (core_.threads.processes().empty() && waiting_.empty() && !has_strangers()) break;
  }
  has_one_gone_ = false;
}

}  // namespace tracewell::target::live
