// Children and new programs. A child that nobody asked for is let go, our patches taken out of its
// copy of the memory. One that shares the memory (vfork, CLONE_VM) runs patched code, so it stays
// attached, unseen, until it runs another program or ends.
#include "target/linux/stops/decider.h"

#include <cerrno>

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/kernel_files.h"
#include "base/files/paths.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"

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

Decision Decider::on_clone(Thread& thread) {
  const Tid child = unborn_.take_child(thread);
  if (child == 0) return {};
  const bool is_thread = tgkill(thread.process->pid, child, 0) == 0 || errno == EPERM;
  if (!is_thread) return child_born(thread, child, StopEvent::Kind::Fork);
  Thread& born = core_.threads.add_thread(*thread.process, child);
  born.resumed = true;
  return {};
}

Decision Decider::on_fork(Thread& thread, bool vfork) {
  const Tid child = unborn_.take_child(thread);
  if (child == 0) return {};
  return child_born(thread, child, vfork ? StopEvent::Kind::Vfork : StopEvent::Kind::Fork);
}

Decision Decider::child_born(Thread& thread, Pid child, StopEvent::Kind kind) {
  Process& parent = *thread.process;
  const bool shared = shares_memory(regs_of(thread), thread.tid, child, *parent.space);
  // A debugger takes its breakpoints out of a fork's memory; where that is the parent's, the parent
  // would lose them.
  const bool vfork = kind == StopEvent::Kind::Vfork;
  bool wanted = seen(parent) && !one_by_one_.is_undecided() &&
                (vfork ? core_.wishes.tell_vforks : core_.wishes.tell_forks && !shared);
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
  if (shared && space->fast) space->fast->had_others = true;
  Process& born = core_.threads.add_process(child, std::move(space));
  born.attached = parent.attached;
  born.catches_calls = parent.catches_calls;
  born.caught_calls = parent.caught_calls;
  born.hidden = !wanted && shared;
  born.beside = shared && !vfork;
  born.leaving = !wanted && !shared;
  core_.threads.add_thread(born, child);
  if (!wanted) return {};
  StopEvent event = event_of(kind, thread);
  event.child_pid = child;
  return {0, event};
}

Decision Decider::on_exec(Thread& thread) {
  if (!core_.wishes.tell_execs || !seen(*thread.process)) return {};
  StopEvent event = event_of(StopEvent::Kind::Exec, thread);
  event.path = link_text(fmt::format("/proc/{}/exe", thread.process->pid)).value_or("");
  if (has_kernels_name(event.path)) event.path.clear();
  return {0, event};
}

}  // namespace tracewell::target::live
