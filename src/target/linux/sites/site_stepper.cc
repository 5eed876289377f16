#include "target/linux/sites/site_stepper.h"

#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/patience.h"
#include "target/linux/threads/caught_calls.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/trap_flag.h"

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

/// A system call is entered at once, unless its code cannot even be fetched.
constexpr int64_t kEntryNs = 2 * kSecond;

}  // namespace

void SiteStepper::prepare_copy(Thread& thread, uint64_t address, Patch& patch) {
  using How = machine::DisplacedCode::How;
  AddressSpace& space = *thread.process->space;
  std::vector<uint8_t> original(AddressSpace::kInstructionMax);
  original.resize(space.read(address, original));
  patch.in_32_bit_code = in_32_bit_code(regs_of(thread));
  const auto displace =
      patch.in_32_bit_code ? machine::displace_i386 : machine::displace_x86_64;
  const machine::DisplacedCode in_place = displace(original, address, address);
  patch.how = in_place.how == How::SystemCall ? How::SystemCall : How::InPlace;
  // A program's code of the other kind is out of reach of where we map memory, or may be.
  if (in_place.how != How::Copy || patch.in_32_bit_code != space.is_32_bit) return;
  original.resize(in_place.length);
  if (const PlacedCopy* old = space.find_copy(address, original, patch.in_32_bit_code)) {
    patch.how = How::Copy;
    patch.copy = old->at;
    return;
  }
  Arena* arena = arenas_.near(thread, address);
  if (arena == nullptr) return;
  PlacedCopy copy;
  copy.site = address;
  copy.at = arena->start + arena->slots.size() * AddressSpace::kSlotBytes;
  copy.in_32_bit_code = patch.in_32_bit_code;
  copy.original = original;
  copy.code = displace(original, address, copy.at);
  if (copy.code.how != How::Copy || !space.write_raw(copy.at, copy.code.code).ok()) return;
  patch.how = How::Copy;
  patch.copy = copy.at;
  arena->slots.push_back(std::move(copy));
}

void SiteStepper::pass(Thread& thread, uint64_t address, Patch& patch) {
  if (!patch.how || patch.in_32_bit_code != in_32_bit_code(regs_of(thread)))
    prepare_copy(thread, address, patch);
  if (thread.run != Run::Stopped) return;  // the call that maps memory does not come back
  thread.counted.pass(patch.breakpoint);
  switch (*patch.how) {
    case machine::DisplacedCode::How::Copy:
      set_pc(thread, patch.copy);
      return starter_.start(thread, wants_step(thread), 0);
    case machine::DisplacedCode::How::SystemCall: return system_call_in_place(thread, address);
    case machine::DisplacedCode::How::InPlace: return step_in_place(thread, address);
  }
}

/// The others must not run past the address while the original is there. Nor may they stand still
/// for long: what the instruction reads may be for one of them to supply (userfaultfd(2)). It waits
/// on then, and finds the trap when it is read again.
void SiteStepper::step_in_place(Thread& thread, uint64_t address) {
  (void)regs_of(thread);
  if (!wants_step(thread) && pop_flags(thread)) return starter_.start(thread, false, 0);
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  stopper_.quiesce(thread);
  if (thread.run != Run::Stopped) return;
  best_effort(space->expose(address, true));
  starter_.start(thread, true, 0);
  Waited waited = stops_.await_within(thread.tid, kInPlaceNs);
  while (waited == Waited::GaveUp && may_run(thread.tid) && !(gives_up_ && gives_up_()))
    waited = stops_.await_within(thread.tid, kInPlaceNs);
  best_effort(space->expose(address, false));
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
void SiteStepper::system_call_in_place(Thread& thread, uint64_t address) {
  const std::shared_ptr<AddressSpace> space = thread.process->space;
  stopper_.quiesce(thread);
  if (thread.run != Run::Stopped) return;
  best_effort(space->expose(address, true));
  thread.doing.enter_site(address);
  starter_.start(thread, false, 0);
  const Waited waited = stops_.await_within(thread.tid, kEntryNs);
  best_effort(space->expose(address, false));
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
  thread.call = {number, is_sigreturn(regs_of(thread), space->is_32_bit)};
  starter_.start(thread, wants_step(thread), 0);
}

/// The kernel restarts a call two bytes before where it ends: for SYSENTER, and 32-bit SYSCALL,
/// that is the int 0x80 that the vdso has beside them.
void SiteStepper::call_left(Thread& thread) {
  constexpr uint64_t kInstructionBytes = 2;
  const uint64_t site = thread.doing.site_call()->site;
  thread.doing.end_call();
  const bool may_come_back =
      may_be_restarted(regs_of(thread)) && thread.regs.rip - kInstructionBytes == site;
  may_come_back ? thread.counted.restart() : thread.counted.be_past();
}

void SiteStepper::handler_entered(Thread& thread) {
  const std::optional<uint64_t> site = thread.counted.site();
  const bool decided = thread.counted.decided();
  thread.counted.enter_handler();
  if (!site) return;
  const auto from = interrupted_by_handler(*thread.process->space, regs_of(thread).rsp);
  if (!from || from->pc != site) return;
  if (thread.returns.size() == kReturnsMax) thread.returns.erase(thread.returns.begin());
  thread.returns.push_back({*site, from->sp, decided, kHandlerSystemCalls});
}

void SiteStepper::forget_handler(Thread& thread) {
  if (thread.returns.empty()) return;
  const user_regs_struct& now = regs_of(thread);
  std::erase_if(thread.returns, [&](const HandlerReturn& one) {
    return one.site == now.rip && one.sp == now.rsp;
  });
}

bool SiteStepper::returned_to_site(Thread& thread) {
  const user_regs_struct& now = thread.returns.empty() ? thread.regs : regs_of(thread);
  for (size_t i = thread.returns.size(); i-- > 0;) {
    if (thread.returns[i].site != now.rip || thread.returns[i].sp != now.rsp) continue;
    thread.counted.count(now.rip, thread.returns[i].decided);
    thread.returns.resize(i);
    return true;
  }
  return false;
}

void SiteStepper::settle(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  if (!space.has_copies() || thread.run != Run::Stopped) return;
  const uint64_t pc = regs_of(thread).rip;
  const PlacedCopy* copy = space.copy_at(pc);
  if (copy == nullptr) return;
  const machine::CopyPoint* point = copy->code.find(pc - copy->at);
  if (point == nullptr) return;
  if (point->done) return set_pc(thread, point->pc);
  set_pc(thread, copy->site);
  if (point->sp_undo != 0) {
    thread.regs.rsp += point->sp_undo;
    thread.regs_state = Thread::Registers::Changed;
  }
  thread.counted.settle(copy->site);
}

}  // namespace tracewell::target::live
