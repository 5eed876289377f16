// Children and new programs. A child that nobody asked for is let go, our patches taken out of its
// copy of the memory. One that shares the memory (vfork, CLONE_VM) runs patched code, so it stays
// attached, unseen, until it runs another program or ends.
#include <algorithm>
#include <cerrno>
#include <iterator>

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/kernel_files.h"
#include "base/paths.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

/// Kernels may lack kcmp; then the flags of the call tell.
bool shares_memory(const user_regs_struct& regs, Tid parent, Pid child, const AddressSpace& space) {
  const long answer = syscall(SYS_kcmp, parent, child, KCMP_VM, 0, 0);
  if (answer >= 0) return answer == 0;
  constexpr uint64_t kCloneVm = 0x100;
  const SystemCalls& numbers = system_calls(space.is_32_bit);
  const auto number = static_cast<int32_t>(regs.orig_rax);
  const uint64_t first = first_argument(regs, space.is_32_bit);
  if (number == numbers.vfork) return true;
  if (number == numbers.clone) return (first & kCloneVm) != 0;
  if (number != numbers.clone3) return false;
  return (space.read_value<uint64_t>(first).value_or(0) & kCloneVm) != 0;
}

}  // namespace

Decision Tracer::on_clone(Thread& thread) {
  const Tid child = unborn_.take_child(thread);
  if (child == 0) return {};
  const bool is_thread = tgkill(thread.process->pid, child, 0) == 0 || errno == EPERM;
  if (!is_thread) return child_born(thread, child, StopEvent::Kind::Fork);
  Thread& born = threads_.add_thread(*thread.process, child);
  born.resumed = true;
  return {};
}

Decision Tracer::on_fork(Thread& thread, bool vfork) {
  const Tid child = unborn_.take_child(thread);
  if (child == 0) return {};
  return child_born(thread, child, vfork ? StopEvent::Kind::Vfork : StopEvent::Kind::Fork);
}

Decision Tracer::child_born(Thread& thread, Pid child, StopEvent::Kind kind) {
  Process& parent = *thread.process;
  const bool shared = shares_memory(regs_of(thread), thread.tid, child, *parent.space);
  // A debugger takes its breakpoints out of a fork's memory; where that is the parent's, the parent
  // would lose them.
  const bool vfork = kind == StopEvent::Kind::Vfork;
  bool wanted = seen(parent) && !one_by_one_.is_undecided() &&
                (vfork ? wishes_.tell_vforks : wishes_.tell_forks && !shared);
  std::shared_ptr<AddressSpace> space = parent.space;
  if (!shared) {
    auto own = unborn_.open_memory(child, parent.space, wanted);
    if (!own.ok()) {  // killed already, or there is no descriptor left, or it may not be opened yet
      unborn_.orphan(child, parent.space);
      return {};
    }
    space = *std::move(own);
    wanted = wanted && !space->is_spare;
    space->adopt_from_fork(*parent.space, wanted);
    space->returns_into_inherited = parent.space->may_return_into_hit(regs_of(thread).rip);
    if (space->is_spare) space->close();
  }
  Process& born = threads_.add_process(child, std::move(space));
  born.attached = parent.attached;
  born.catches_calls = parent.catches_calls;
  born.caught_calls = parent.caught_calls;
  born.hidden = !wanted && shared;
  born.beside = shared && !vfork;
  born.leaving = !wanted && !shared;
  threads_.add_thread(born, child);
  if (!wanted) return {};
  StopEvent event = event_of(kind, thread);
  event.child_pid = child;
  return {0, event};
}

/// Only the thread that called exec is left, under the leader's id, and nothing of the old memory.
void Tracer::exec_happened(Tid leader) {
  Process* process = threads_.find_process(leader);
  if (process == nullptr) return;
  const std::vector<Tid> old = process->threads;
  std::optional<StopEvent::Kind> stop_wanted;
  for (const Tid tid : old) {
    const Thread* one = threads_.find(tid);
    if (one != nullptr && one->stop_wanted) stop_wanted = one->stop_wanted;
    threads_.remove_thread(tid);
  }
  process->hardware = {};
  if (process->hidden) {
    process->hidden = false;
    process->leaving = true;
  }
  if (auto space = AddressSpace::open(leader); space.ok()) {
    const std::shared_ptr<AddressSpace> was = std::exchange(process->space, *std::move(space));
    threads_.keep(was);
    unborn_.memory_gone(was);
  }
  Thread& thread = threads_.add_thread(*process, leader);
  thread.resumed = true;
  thread.stop_wanted = stop_wanted;
  thread.begun = true;
  thread.call.emplace();
  if (wishes_.handler != nullptr) {
    wishes_.handler->on_exec(leader);
    stops_.bell().tick();
  }
  release_orphans();
}

/// After an exec the process has one thread, in the stop that tells of it. Where threads run, it
/// may be there and nobody has looked: the numbers of the process and of its leader would lead what
/// is meant for the old program to the new one.
bool Tracer::exec_untold(Pid pid) {
  if (one_by_one_.on() && threads_.find(pid) != nullptr) (void)stops_.take_status(pid);
  const Thread* const thread = threads_.find(pid);
  if (thread == nullptr || !wishes_.tell_execs || !seen(*thread->process)) return false;
  if (thread->pending) return thread->pending->kind == StopEvent::Kind::Exec;
  return thread->fresh && stop_event(thread->status) == PTRACE_EVENT_EXEC;
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

Decision Tracer::on_exec(Thread& thread) {
  if (!wishes_.tell_execs || !seen(*thread.process)) return {};
  StopEvent event = event_of(StopEvent::Kind::Exec, thread);
  event.path = link_text(fmt::format("/proc/{}/exe", thread.process->pid)).value_or("");
  if (has_kernels_name(event.path)) event.path.clear();
  return {0, event};
}

}  // namespace tracewell::target::live
