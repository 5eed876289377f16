// Leading threads out of code of ours, by single steps, while all others stand still. A step may
// wait for one of those: a page that is read may be another thread's to supply (userfaultfd(2)),
// and the program may have written over our code so that there is no way out. So each wait has a
// bound, and so have all steps together.
//
// A wait that can be interrupted is one for a page: the load is taken for one that fails, the value
// is missing in the hit, which says so, and the thread goes on. Where it cannot be (state D) the
// thread is left as it is, and led out when it comes back; what it runs until then stays there.
#include "target/linux/fast/leading_out.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "target/linux/fast/mender.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/register_blocks.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kMaskBytes = 8;
constexpr int kInterruptedStatus = kEventStop << 16 | SIGTRAP << 8 | 0x7f;
constexpr int64_t kForOthersNs = kSecond / 4;  // who supplies pages may be held by nobody
constexpr int64_t kAgainNs = kSecond / 50;
constexpr int64_t kStepNs = 5 * kSecond, kLeavingNs = 20 * kSecond, kAllOutNs = 10 * kSecond;
/// The longest hits: expressions with loops (ax::kBudget), and copies that step byte by byte.
constexpr uint32_t kStepsMax = 1 << 22, kStepsAtEnd = 1 << 16, kStepsPerLook = 1 << 12;

}  // namespace

/// When does the time end that a thread has which begins now? At the end, all that do not get out
/// have one together.
int64_t LeadingOut::leaves_until(int64_t begin_ns) {
  if (!ends_soon()) return begin_ns + kLeavingNs;
  if (end_ns_ == 0) {
    end_ns_ = begin_ns + kAllAtEndNs;
    last_end_ns_ = begin_ns + kAllOutNs;
  }
  return std::min(end_ns_, begin_ns + kAtEndNs);
}

/// The time of those that did is not taken from the others.
void LeadingOut::has_left(int64_t begin_ns) {
  if (end_ns_ != 0) end_ns_ = std::min(end_ns_ + monotonic_ns() - begin_ns, last_end_ns_);
}

/// Those that are taken in vain are counted, for there may be many threads that do not get out.
uint32_t LeadingOut::steps_left(const FastCode& code) const {
  if (!ends_soon() && !code.stays_inside) return kStepsMax;
  return code.steps_in_vain < kStepsAtEnd ? kStepsAtEnd : kStepsPerLook;
}

/// Signals wait until it is out, but for those that the instructions themselves may cause.
bool LeadingOut::begin_leaving(Thread& thread) {
  if (!thread.doing.leave_code({})) return false;
  LeavingCode& out = *thread.doing.leaving_code();
  out.status = thread.status;
  out.left_group_stop = is_group_stop(thread.status);
  out.has_signal = is_signal_stop(thread.status) &&
                   trace(PTRACE_GETSIGINFO, thread.tid, 0, &out.signal) == 0;
  trace(PTRACE_GETSIGMASK, thread.tid, kMaskBytes, &out.blocked);
  const uint64_t of_loads = uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1);
  uint64_t wait = ~of_loads;
  for (const int signal : {SIGILL, SIGTRAP, SIGFPE}) wait &= ~(uint64_t{1} << (signal - 1));
  // What a load may cause stays unblocked where that does harm: see mend().
  wait |= thread.process->space->fast->handlers ? out.blocked & ~of_loads : out.blocked;
  trace(PTRACE_SETSIGMASK, thread.tid, kMaskBytes, &wait);
  return true;
}

/// The signal that it was about to get is its again.
void LeadingOut::end_leaving(Thread& thread) {
  LeavingCode out = *thread.doing.come_out();
  for (const siginfo_t& signal : out.sent) send_again(thread.process->pid, thread.tid, signal);
  trace(PTRACE_SETSIGMASK, thread.tid, kMaskBytes, &out.blocked);
  if (out.has_signal) trace(PTRACE_SETSIGINFO, thread.tid, 0, &out.signal);
  thread.left_group_stop = out.left_group_stop;
  // Out of a group stop it stands as one that was interrupted.
  if (out.left_group_stop) thread.status = kInterruptedStatus;
  else if (is_signal_stop(thread.status)) thread.status = out.status;
  thread.asked = false;
}

Waited LeadingOut::step_on(Thread& thread) {
  best_effort(flush_regs(thread));
  thread.run = Run::Running;
  thread.regs_state = Thread::Registers::Unknown;
  thread.asked = true;
  trace(PTRACE_SINGLESTEP, thread.tid, 0, uint64_t{0});
  LeavingCode& out = *thread.doing.leaving_code();
  const int64_t begin = monotonic_ns();
  const int64_t patience_ns = out.has_waited || ends_soon() ? kAgainNs : kForOthersNs;
  Waited waited = stops_.await_within(thread.tid, patience_ns);
  for (bool interrupted = false; waited == Waited::GaveUp;) {
    if (monotonic_ns() - begin > (ends_soon() ? kAtEndNs : kStepNs)) break;
    const auto status = proc_status(thread.tid);
    if (!interrupted && status && (status->state == 'S' || status->state == 'D')) {
      interrupted = out.has_waited = true;
      out.sleeps = status->state == 'S';
      trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
    }
    waited = stops_.await_within(thread.tid, kAgainNs);
  }
  if (waited == Waited::Stopped) thread.fresh = false;
  return waited;
}

/// Is it out?
bool LeadingOut::look_at_step(Thread& thread) {
  const FastCode& code = *thread.process->space->fast;
  LeavingCode& out = *thread.doing.leaving_code();
  out.left_group_stop |= is_group_stop(thread.status);
  const bool has_slept = std::exchange(out.sleeps, false);
  const uint64_t pc = regs_of(thread).rip;
  if (!is_signal_stop(thread.status)) {
    const auto next = has_slept ? code.redirected(SIGSEGV, pc) : std::nullopt;
    if (next) set_pc(thread, *next);
    return false;
  }
  const int signal = stop_signal(thread.status);
  siginfo_t what{};
  what.si_signo = signal;
  what.si_code = SI_TKILL;
  (void)trace(PTRACE_GETSIGINFO, thread.tid, 0, &what);
  if (what.si_code <= 0) {
    out.sent.push_back(what);
    return false;
  }
  if (signal != SIGTRAP) {
    const auto next = code.redirected(signal, pc);
    if (!next) return true;  // such as a stack without room for us
    note_failed_load(wishes_, thread, reinterpret_cast<uint64_t>(what.si_addr));
    set_pc(thread, *next);
    return false;
  }
  const auto place = code.place_of(pc);
  return !place || place->exact;
}

bool LeadingOut::leave(Thread& thread) {
  if (wishes_.handler != nullptr) wishes_.handler->on_leave(thread.tid);
  FastCode& code = *thread.process->space->fast;
  bool is_out = false;
  if (thread.doing.leaving_code() != nullptr) is_out = look_at_step(thread);
  else if (!begin_leaving(thread)) return false;
  const int64_t begin = monotonic_ns();
  for (uint32_t steps = 0; !is_out; ++steps) {
    if (steps % kStepsPerLook == 0 && (steps != 0 || code.stays_inside || ends_soon())) {
      if (steps >= steps_left(code) || monotonic_ns() > leaves_until(begin) ||
          !code.is_ours(regs_of(thread).rip)) {
        code.stays_inside = true;
        code.steps_in_vain += steps;
        end_leaving(thread);
        return false;
      }
    }
    const Waited waited = step_on(thread);
    if (waited == Waited::GaveUp) code.stays_inside = true;
    if (waited == Waited::Gone) (void)thread.doing.come_out();
    if (waited != Waited::Stopped) return false;
    is_out = look_at_step(thread);
  }
  has_left(begin);
  end_leaving(thread);
  return true;
}

void LeadingOut::settle(Thread& thread) {
  if (thread.process->space->fast && thread.run == Run::Stopped) settle_in_code(thread);
  stepper_.settle(thread);
}

/// A thread in a pad stands where the program would: at an instruction whose slot has run, or
/// behind it.
void LeadingOut::settle_in_code(Thread& thread) {
  const FastCode* const fast = thread.process->space->fast.get();
  auto place = fast->place_of(regs_of(thread).rip);
  if (place && !place->exact) {
    if (!leave(thread)) return;
    place = fast->place_of(regs_of(thread).rip);
  }
  if (!place || !place->exact) return;
  set_pc(thread, place->pc);
  if (place->sp_undo != 0) {
    thread.regs.rsp += place->sp_undo;
    thread.regs_state = Thread::Registers::Changed;
  }
  if (!place->done) thread.counted.settle(place->pc);
}

}  // namespace tracewell::target::live
