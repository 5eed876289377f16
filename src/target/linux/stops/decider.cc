#include "target/linux/stops/decider.h"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/threads/caught_calls.h"
#include "target/linux/threads/debug_registers.h"
#include "target/linux/threads/register_blocks.h"

namespace tracewell::target::live {
namespace {

/// Sent by tgkill() of this process. It has no number where the program has a PID namespace below
/// ours: the kernel says 0 there of all who are outside.
bool may_be_ours(const siginfo_t& info) {
  return info.si_code == SI_TKILL && (info.si_pid == getpid() || info.si_pid == 0);
}

/// Code of ours that the program runs through makes a call now and then. It is not the program's.
bool is_of_our_code(const Thread& thread) {
  const FastCode* const code = thread.process->space->fast.get();
  return code != nullptr && code->inside(thread.regs.rip);
}

}  // namespace

/// A mistake of ours, or a stop that nobody has foreseen. A test ends at it; a server tells of it
/// and goes on, for a program is in its hands.
void Decider::tell_refusals(Thread& thread) {
  static const bool is_test = ::secure_getenv("TRACEWELL_STRICT") != nullptr;
  static int told = 0;
  constexpr int kToldMax = 20;
  for (const auto& refusal : {thread.doing.take_refusal(), thread.counted.take_refusal()}) {
    if (!refusal) continue;
    const std::string who = fmt::format("thread {} of process {}, which {},", thread.tid,
                                        thread.process->pid, refusal->state);
    if (is_test)
      check_failed(fmt::format("that {} may {}", who, refusal->turn).c_str(), __FILE__, __LINE__);
    if (core_.options.notice && told++ < kToldMax)
      core_.options.notice(fmt::format("{} was to {} (stop {:#x}): that is left out", who,
                                       refusal->turn, thread.status));
  }
}

Decision Decider::decide(Thread& thread, bool parking) {
  tell_refusals(thread);
  if (std::exchange(thread.unlisted, false) && core_.wishes.handler != nullptr &&
      thread.process->space->fast)
    core_.wishes.handler->on_thread(fast_.base_of(thread));
  if (const LeavingCode* const out = thread.doing.leaving_code();
      out != nullptr && thread.process->space->fast) {
    const bool decided = !out->undecided;
    if (!core_.leading_out.leave(thread)) return {};
    if (decided) return {std::exchange(thread.deferred_signal, 0), {}};
  }
  Decision decision = meaning_of(thread, parking);
  LeavingCode* const out = thread.doing.leaving_code();
  if (out == nullptr) return decision;
  out->undecided = true;  // it could not be led out of code of ours
  return {};
}

Decision Decider::meaning_of(Thread& thread, bool parking) {
  const int told = stop_event(thread.status);
  // All of these come in the middle of a system call, whose entry may not have been watched.
  if (told != 0 && told != kEventStop && !thread.call) thread.call.emplace();
  switch (told) {
    case 0: break;
    case PTRACE_EVENT_CLONE: return on_clone(thread);
    case PTRACE_EVENT_FORK: return on_fork(thread, false);
    case PTRACE_EVENT_VFORK: return on_fork(thread, true);
    case PTRACE_EVENT_VFORK_DONE: {
      if (!core_.wishes.tell_vforks || !seen(*thread.process)) return {};
      StopEvent event = event_of(StopEvent::Kind::VforkDone, thread);
      return {0, event};
    }
    case PTRACE_EVENT_EXEC: return on_exec(thread);
    case kEventStop: return on_event_stop(thread);
    default: return {};
  }
  const int signal = stop_signal(thread.status);
  if (signal == kSyscallStop) return on_system_call(thread);
  if (signal == SIGTRAP) return on_trap(thread, parking);
  thread.doing.enters_no_handler();
  return on_signal(thread, signal);
}

Decision Decider::on_event_stop(Thread& thread) {
  thread.doing.enters_no_handler();
  if (std::exchange(thread.begun, true)) return {};
  core_.far_memory.unshare(thread);
  load_debug_registers(thread);
  const Process& process = *thread.process;
  if (core_.wishes.handler != nullptr && process.space->fast &&
      (thread.tid != process.pid || process.beside))
    core_.wishes.handler->on_thread(fast_.base_of(thread));
  if (!core_.wishes.tell_threads || !seen(process) || thread.tid == process.pid) return {};
  StopEvent event = event_of(StopEvent::Kind::ThreadCreated, thread);
  return {0, event};
}

/// Not to a thread that steps: the debugger wants to step over the handler, or into it.
bool Decider::passes(const Thread& thread, int signal) const {
  const bool steps = thread.resumed && thread.action != ResumeAction::Kind::Continue;
  if (steps) return false;
  return core_.wishes.pass_signals.test(static_cast<size_t>(signal)) ||
         one_by_one_.passes(thread, signal);
}

bool Decider::still_true(Thread& thread) {
  const StopEvent& event = *thread.pending;
  switch (event.kind) {
    case StopEvent::Kind::Signal: return !passes(thread, event.signal);
    case StopEvent::Kind::Breakpoint: {
      const Patch* patch = thread.process->space->find(event.address);
      return patch != nullptr && patch->breakpoint && regs_of(thread).rip == event.address;
    }
    case StopEvent::Kind::Hardware:
    case StopEvent::Kind::Watchpoint:
      for (const HardwareSlot& slot : thread.process->hardware)
        if (slot.users > 0 && slot.address == event.address) return true;
      return false;
    case StopEvent::Kind::SystemCallEntry:
    case StopEvent::Kind::SystemCallReturn: return catches(thread, event.system_call);
    case StopEvent::Kind::ThreadCreated: return core_.wishes.tell_threads;
    default: return true;
  }
}

/// A signal that is about to be delivered.
Decision Decider::on_signal(Thread& thread, int signal) {
  siginfo_t info{};
  if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) != 0 || is_leaving(info)) return {};
  const uint64_t pc = regs_of(thread).rip;
  const bool caused = info.si_code > 0;  // by the instruction: nobody has sent it
  if (const auto next = thread.process->space->fast && caused
                            ? thread.process->space->fast->redirected(signal, pc)
                            : std::nullopt) {
    set_pc(thread, *next);
    if (FaultHandlers::is_of_a_fault(signal))
      core_.mender.mend(thread, signal, reinterpret_cast<uint64_t>(info.si_addr));
    return {};
  }
  core_.leading_out.settle(thread);
  // Such as a stack without room for us. A handler may supply it, and comes back here.
  FastCode* const code = thread.process->space->fast.get();
  if (caused && code != nullptr && code->is_ours(thread.regs.rip))
    code->stays_inside = code->has_handler = true;
  // The kernel's word for the instruction that failed is where it stood in its copy.
  const bool fault = signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
                     signal == SIGSEGV || signal == SIGBUS;
  if (fault && caused && reinterpret_cast<uint64_t>(info.si_addr) == pc &&
      thread.regs.rip != pc) {
    info.si_addr = reinterpret_cast<void*>(thread.regs.rip);
    trace(PTRACE_SETSIGINFO, thread.tid, 0, &info);
  }
  if (thread.injected == signal && may_be_ours(info)) {
    thread.injected = 0;
    return {signal, {}};
  }
  if (!seen(*thread.process) || passes(thread, signal)) return {signal, {}};
  StopEvent event = event_of(StopEvent::Kind::Signal, thread);
  event.signal = signal;
  return {0, event};
}

/// SIGTRAP has many sources; si_code tells them apart. SI_KERNEL: an int3. TRAP_TRACE: a single
/// step. TRAP_BRKPT: a single step over a system call (or the program's own int1). SIGTRAP itself:
/// a single step into a signal handler. TRAP_HWBKPT: a debug register.
Decision Decider::on_trap(Thread& thread, bool parking) {
  siginfo_t info{};
  if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) != 0 || is_leaving(info)) return {};
  const int code = info.si_code;
  if (code == SI_KERNEL) return on_int3(thread, parking);
  const bool is_steps = code == TRAP_TRACE || code == TRAP_BRKPT || code == SIGTRAP;
  if (is_steps && thread.doing.step() != nullptr) return on_step(thread, code, parking);
  thread.doing.enters_no_handler();
  if (code == TRAP_HWBKPT) {
    core_.leading_out.settle(thread);
    if (auto event = watch_event(thread)) return {0, event};
    return {};
  }
  return on_signal(thread, SIGTRAP);
}

std::optional<StopEvent> Decider::watch_event(Thread& thread) {
  const uint64_t hit = take_hit_registers(thread);
  const auto& slots = thread.process->hardware;
  for (size_t i = 0; hit != 0 && i < slots.size(); ++i) {
    if ((hit >> i & 1) == 0 || slots[i].users == 0) continue;
    StopEvent event = event_of(StopEvent::Kind::Watchpoint, thread);
    event.address = slots[i].address;
    if (slots[i].kind == Breakpoints::Kind::Hardware) {
      // The kernel lets the thread run the instruction when it goes on (the resume flag).
      if (!filter_tells(thread, Breakpoints::Kind::Hardware, event.address)) continue;
      event.kind = StopEvent::Kind::Hardware;
    }
    return event;
  }
  return std::nullopt;
}

Decision Decider::on_system_call(Thread& thread) {
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
                   is_sigreturn(regs_of(thread), thread.process->space->is_32_bit)};
    if (!thread.returns.empty() && --thread.returns.back().system_calls_left == 0)
      thread.returns.pop_back();
    // Should it fail after all, the child runs on in memory that may have traps of ours.
    if (thread.process->keeps_rights() &&
        runs_privileged_file(thread.tid, regs_of(thread), *thread.process->space))
      thread.process->leaving = true;
    return system_call_event(thread, StopEvent::Kind::SystemCallEntry, thread.call->number);
  }
  if (ended.is_ours) return {};
  if (thread.doing.site_call() != nullptr) core_.stepper.call_left(thread);
  if (ended.is_sigreturn) core_.stepper.returned_to_site(thread);
  // What rt_sigreturn returns to has no number of a call any more.
  const auto number = static_cast<int32_t>(regs_of(thread).orig_rax);
  return newborn ? Decision{}
                 : system_call_event(thread, StopEvent::Kind::SystemCallReturn,
                                     number >= 0 ? number : ended.number);
}

/// At the entry or the return.
Decision Decider::system_call_event(Thread& thread, StopEvent::Kind kind, int64_t number) {
  if (!catches(thread, number)) return {};
  core_.leading_out.settle(thread);
  StopEvent event = event_of(kind, thread);
  event.system_call = number;
  return {0, event};
}

}  // namespace tracewell::target::live
