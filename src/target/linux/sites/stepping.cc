// What cannot be run from a copy, and signal handlers that return to a site.
#include <cstddef>

#include "target/linux/fast/fast_code.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/threads/trap_flag.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kReturnsMax = 16;
constexpr uint32_t kHandlerSystemCalls = 4096;
constexpr int64_t kInPlaceNs = 20 * kMilli;

/// Or does it wait in the kernel?
bool may_run(Tid tid) {
  const auto status = proc_status(tid);
  return status && status->state != 'S' && status->state != 'D';
}

/// Code of ours that the program runs through makes a call now and then. It is not the program's.
bool is_of_our_code(const Thread& thread) {
  const FastCode* const code = thread.process->space->fast.get();
  return code != nullptr && code->inside(thread.regs.rip);
}

/// What the kernel shows at a system call's exit when it will restart it, unless a handler runs.
/// The library never sees these numbers.
bool may_be_restarted(const user_regs_struct& regs) {
  const int64_t result = static_cast<int64_t>(regs.rax);
  constexpr int64_t kRestartSys = -512, kRestartNoIntr = -513, kRestartNoHand = -514,
                    kRestartBlock = -516;
  return static_cast<int64_t>(regs.orig_rax) >= 0 &&
         (result == kRestartSys || result == kRestartNoIntr || result == kRestartNoHand ||
          result == kRestartBlock);
}

bool is_sigreturn(const user_regs_struct& regs, const AddressSpace& space) {
  const SystemCalls& numbers = system_calls(space.is_32_bit);
  const auto number = static_cast<int32_t>(regs.orig_rax);
  return number == numbers.rt_sigreturn || (number == numbers.sigreturn && number >= 0);
}

/// A system call is entered at once, unless its code cannot even be fetched.
constexpr int64_t kEntryNs = 2 * kSecond;

}  // namespace

/// The others must not run past the address while the original is there. Nor may they stand still
/// for long: what the instruction reads may be for one of them to supply (userfaultfd(2)). It waits
/// on then, and finds the trap when it is read again.
void Tracer::step_in_place(Thread& thread, uint64_t address) {
  (void)regs_of(thread);
  if (!wants_step(thread) && pop_flags(thread)) return starter_.start(thread, false, 0);
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  stopper_.quiesce(thread);
  if (thread.run != Run::Stopped) return;
  (void)space->expose(address, true);
  starter_.start(thread, true, 0);
  Waited waited = stops_.await_within(thread.tid, kInPlaceNs);
  while (waited == Waited::GaveUp && may_run(thread.tid) && !(gives_up && gives_up()))
    waited = stops_.await_within(thread.tid, kInPlaceNs);
  (void)space->expose(address, false);
  if (waited == Waited::GaveUp) thread.counted.settle(address);
  if (waited != Waited::Stopped) return;
  const uint64_t pc = regs_of(thread).rip;
  if (pc == address) thread.counted.settle(address);
  const Patch* patch = space->find(address);
  siginfo_t info{};
  if (pc == address + 1 && patch != nullptr && patch->original == AddressSpace::kInt3 &&
      is_signal_stop(thread.status) && stop_signal(thread.status) == SIGTRAP &&
      trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) == 0 && info.si_code == SI_KERNEL)
    if (SingleStep* const step = thread.doing.step()) step->programs_int3 = true;
}

/// Only until the kernel has taken the call: it may block there for ever, and its exit, its restart
/// and its children all see the pc behind the original.
void Tracer::system_call_in_place(Thread& thread, uint64_t address) {
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  stopper_.quiesce(thread);
  if (thread.run != Run::Stopped) return;
  (void)space->expose(address, true);
  thread.doing.enter_site(address);
  starter_.start(thread, false, 0);
  const Waited waited = stops_.await_within(thread.tid, kEntryNs);
  (void)space->expose(address, false);
  if (waited == Waited::Gone) return;
  if (waited == Waited::GaveUp) {  // such as where the code cannot be fetched
    thread.doing.miss_site();
    thread.counted.settle(address);
    return late_.give_up(thread, '?');
  }
  if (stop_event(thread.status) != 0 || stop_signal(thread.status) != kSyscallStop) {
    thread.doing.miss_site();  // something else came first
    if (regs_of(thread).rip == address) thread.counted.settle(address);
    return;
  }
  const auto number = static_cast<int32_t>(regs_of(thread).orig_rax);
  if (catches(thread, number)) return;  // fresh as it is, it gets its turn to be told
  thread.fresh = false;
  thread.call = {number, is_sigreturn(regs_of(thread), *space)};
  starter_.start(thread, wants_step(thread), 0);
}

/// The kernel restarts a call two bytes before where it ends: for SYSENTER, and 32-bit SYSCALL,
/// that is the int 0x80 that the vdso has beside them.
void Tracer::system_call_left(Thread& thread) {
  constexpr uint64_t kInstructionBytes = 2;
  const uint64_t site = thread.doing.site_call()->site;
  thread.doing.end_call();
  const bool may_come_back =
      may_be_restarted(regs_of(thread)) && thread.regs.rip - kInstructionBytes == site;
  may_come_back ? thread.counted.restart() : thread.counted.be_past();
}

Decision Tracer::on_system_call(Thread& thread) {
  const auto stop = call_stop(thread.tid);
  const CallStop::Side side = stop ? stop->side : CallStop::Side::None;
  // A new thread returns from the call that its creator made.
  const bool newborn = side != CallStop::Side::Entry && !thread.call;
  const KernelCall ended = std::exchange(thread.call, std::nullopt).value_or(KernelCall{});
  if (side == CallStop::Side::Entry) {
    (void)regs_of(thread);
    if (is_of_our_code(thread)) {
      thread.call = {static_cast<int32_t>(thread.regs.orig_rax), false, true};
      return {};
    }
    thread.counted.enter_call();
    thread.call = {static_cast<int32_t>(regs_of(thread).orig_rax),
                   is_sigreturn(regs_of(thread), *thread.process->space)};
    if (!thread.returns.empty() && --thread.returns.back().system_calls_left == 0)
      thread.returns.pop_back();
    // Should it fail after all, the child runs on in memory that may have traps of ours.
    if (thread.process->keeps_rights() &&
        runs_privileged_file(thread.tid, regs_of(thread), *thread.process->space))
      thread.process->leaving = true;
    return system_call_event(thread, StopEvent::Kind::SystemCallEntry, thread.call->number);
  }
  if (ended.is_ours) return {};
  if (thread.doing.site_call() != nullptr) system_call_left(thread);
  if (ended.is_sigreturn) returned_to_site(thread);
  // What rt_sigreturn returns to has no number of a call any more.
  const auto number = static_cast<int32_t>(regs_of(thread).orig_rax);
  return newborn ? Decision{}
                 : system_call_event(thread, StopEvent::Kind::SystemCallReturn,
                                     number >= 0 ? number : ended.number);
}

/// The thread stands at the first instruction of a signal handler.
void Tracer::handler_entered(Thread& thread) {
  const std::optional<uint64_t> site = thread.counted.site();
  const bool decided = thread.counted.decided();
  thread.counted.enter_handler();
  if (!site) return;
  const auto from = interrupted_by_handler(*thread.process->space, regs_of(thread).rsp);
  if (!from || from->pc != site) return;
  if (thread.returns.size() == kReturnsMax) thread.returns.erase(thread.returns.begin());
  thread.returns.push_back({*site, from->sp, decided, kHandlerSystemCalls});
}

/// It stands where a handler was to return to, and has not: that one never will.
void Tracer::forget_handler(Thread& thread) {
  if (thread.returns.empty()) return;
  const user_regs_struct& now = regs_of(thread);
  std::erase_if(thread.returns, [&](const HandlerReturn& one) {
    return one.site == now.rip && one.sp == now.rsp;
  });
}

bool Tracer::returned_to_site(Thread& thread) {
  const user_regs_struct& now = thread.returns.empty() ? thread.regs : regs_of(thread);
  for (size_t i = thread.returns.size(); i-- > 0;) {
    if (thread.returns[i].site != now.rip || thread.returns[i].sp != now.rsp) continue;
    thread.counted.count(now.rip, thread.returns[i].decided);
    thread.returns.resize(i);
    return true;
  }
  return false;
}

}  // namespace tracewell::target::live
