// Running a system call in the traced program. Not from a thread that is about to get a signal:
// that would be lost; take_signal() keeps it where there is no other thread. Nor from one of the
// kernel's, which would never make the call. One that was interrupted inside a system call is led
// back to the very same stop, where the kernel restarts it.
#include "target/linux/inject/injector.h"

#include <sys/ptrace.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "target/linux/inject/lent.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/frozen.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/patience.h"
#include "target/linux/threads/register_blocks.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

constexpr int64_t kNoCallsNs = 30 * kSecond;
/// Bytes of one mapping and of all that are looked through for a system call.
constexpr uint64_t kSearchMax = uint64_t{1} << 20, kSearchAllMax = uint64_t{256} << 20;

bool is_system_call(const AddressSpace& space, uint64_t at) {
  uint8_t code[2] = {};
  return space.read_raw(at, code) == 2 &&
         std::equal(code, code + 2, system_calls(space.is_32_bit).instruction);
}

uint64_t search(const AddressSpace& space, const Mapping& map) {
  std::vector<uint8_t> code(std::min(map.end - map.start, kSearchMax));
  code.resize(space.read_raw(map.start, code));
  const auto& call = system_calls(space.is_32_bit).instruction;
  const auto found = std::search(code.begin(), code.end(), call, call + 2);
  return found == code.end() ? 0 : map.start + static_cast<uint64_t>(found - code.begin());
}

/// The vdso has one on every kernel that has a vdso. A program may have unmapped it, and have as
/// many others as it likes: where none was found, they are not looked through again.
uint64_t find_system_call(AddressSpace& space, Tid tid, const std::function<bool()>& gives_up) {
  std::vector<Mapping> maps = mappings(tid, gives_up);
  std::erase_if(maps, [](const Mapping& map) {
    return !map.executable || map.path == "[vsyscall]";
  });
  const MappingsPrint print = print_of(maps);
  if (space.without_system_call == print) return 0;
  std::ranges::stable_partition(maps, [](const Mapping& map) { return map.path == "[vdso]"; });
  uint64_t left = kSearchAllMax;
  for (const Mapping& map : maps) {
    if (left == 0) break;
    if (gives_up && gives_up()) return 0;
    if (const uint64_t at = search(space, map); at != 0) return at;
    left -= std::min({left, map.end - map.start, kSearchMax});
  }
  space.without_system_call = print;
  return 0;
}

/// It stays what it was made as.
bool runs_in_kernel_only(Thread& thread) {
  if (!thread.is_kernel_worker) thread.is_kernel_worker = is_kernel_worker(thread.tid);
  return *thread.is_kernel_worker;
}

bool stands_in_program(const Thread& thread) {
  if (thread.run != Run::Stopped || thread.fresh || is_group_stop(thread.status)) return false;
  if (thread.doing.site_call() != nullptr || thread.deferred_signal != 0) return false;
  if (thread.pending && thread.pending->kind == StopEvent::Kind::Signal) return false;
  if (stop_event(thread.status) == kEventStop) return true;
  return is_signal_stop(thread.status) && stop_signal(thread.status) == SIGTRAP;
}

/// As the thread has it where no call of its own, such as ppoll(2), has changed it for a while.
bool is_blocked(Tid tid, int signal) {
  uint64_t mask = 0;
  return trace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) != 0 || (mask >> (signal - 1) & 1) != 0;
}

/// Has it another one of that number waiting? The queue of all threads is told apart from its own.
bool waits_for_more(Tid tid, int signal) {
  for (const uint32_t flags : {0u, uint32_t{PTRACE_PEEKSIGINFO_SHARED}}) {
    siginfo_t some[16];
    for (uint64_t at = 0;;) {
      __ptrace_peeksiginfo_args from{at, flags, std::size(some)};
      const long got = ptrace(PTRACE_PEEKSIGINFO, tid, &from, some);
      if (got < 0) return true;
      for (const siginfo_t& one : std::span(some, static_cast<size_t>(got)))
        if (one.si_signo == signal) return true;
      if (static_cast<size_t>(got) < std::size(some)) break;
      at += static_cast<uint64_t>(got);
    }
  }
  return false;
}

/// One that can be kept, and comes back as it was. Not what its own instruction causes. Not those
/// of job control: each does away with others that wait (signal(7)). And not where we may not send
/// it again.
bool stands_by_signal(const Thread& thread, siginfo_t& signal) {
  if (thread.run != Run::Stopped || thread.fresh || !is_signal_stop(thread.status) ||
      is_group_stop(thread.status) || thread.doing.site_call() != nullptr ||
      !thread.doing.may(Doing::Turn::Lend))
    return false;
  if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &signal) != 0) return false;
  constexpr int kNever[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP, SIGSYS,
                            SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGKILL};
  const int number = signal.si_signo;
  return std::ranges::find(kNever, number) == std::end(kNever) &&
         !is_blocked(thread.tid, number) && !waits_for_more(thread.tid, number) &&
         tgkill(thread.process->pid, thread.tid, 0) == 0;
}

}  // namespace

/// The best is one that is outside the kernel.
Thread* Injector::injectable(const AddressSpace& space, const Process* of) const {
  Thread* result = nullptr;
  for (Thread* thread : threads_.all()) {
    if (thread->process->space.get() != &space || thread->process->leaving) continue;
    if (of != nullptr && thread->process != of) continue;
    if (!stands_in_program(*thread)) continue;
    if (in_32_bit_code(regs_of(*thread)) != space.is_32_bit) continue;
    const bool is_outside = static_cast<int64_t>(regs_of(*thread).orig_rax) == -1;
    if ((result != nullptr && !is_outside) || runs_in_kernel_only(*thread)) continue;
    result = thread;
    if (is_outside) break;
  }
  return result;
}

Result<int64_t> Injector::system_call(Thread& thread, const uint64_t (&call)[7]) {
  TW_RETURN_IF_ERROR(lend(thread));
  const Result<int64_t> result = call_lent(thread, call);
  TW_RETURN_IF_ERROR(give_back(thread));
  return result;
}

/// Whatever of them is there. One that cannot be unmapped does not keep the others.
void Injector::unmap(Thread& thread, std::span<const pads::Range> some) {
  const auto number = system_calls(thread.process->space->is_32_bit).munmap;
  while (!some.empty() && lend(thread)) {
    for (bool made = true; made && !some.empty(); some = some.subspan(1)) {
      const pads::Range one = some.front();
      made = call_lent(thread, {number, one.start, one.end - one.start, 0, 0, 0, 0}).ok();
    }
    if (!give_back(thread)) return;
  }
}

Status Injector::lend(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  if (!stands_in_program(thread) || in_32_bit_code(regs_of(thread)) != space.is_32_bit ||
      runs_in_kernel_only(thread))
    return because(TrapReason::NoCalls, "", Errc::Target);
  // All others of the server's programs may stand still meanwhile.
  if (monotonic_ns() < space.no_calls_until_ns || is_frozen(thread.process->pid))
    return {Errc::Target, "the program does not run (a frozen control group, or it waits in the "
                          "kernel), and makes no system call for us"};
  if (space.system_call_at == 0 || !is_system_call(space, space.system_call_at))
    space.system_call_at = find_system_call(space, thread.tid, gives_up_);
  if (space.system_call_at == 0) return {Errc::Target, "no system call instruction found"};
  return Lent::lend(thread);
}

/// Job control may come between, and signals from somewhere; what the instruction itself causes is
/// the end of it, since it was no call then.
bool Injector::run(Thread& thread) {
  constexpr int kTriesMax = 64;
  bool asked = false;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    thread.run = Run::Running;
    thread.regs_state = Thread::Registers::Unknown;
    thread.asked = false;
    trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
    Waited waited = stops_.await_within(thread.tid, Lent::kCallNs);
    if (waited == Waited::GaveUp) {
      asked = true;
      trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
      waited = stops_.await_within(thread.tid, Lent::kCallNs);
    }
    if (waited == Waited::GaveUp) late_.give_up(thread, '?');
    if (waited != Waited::Stopped) return false;
    thread.fresh = false;
    if (stop_event(thread.status) == 0 && stop_signal(thread.status) == kSyscallStop) return true;
    if (asked) return false;  // it runs through something else
    if (!is_signal_stop(thread.status)) continue;
    siginfo_t info{};
    if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) != 0 || info.si_code > 0) return false;
    thread.doing.lent()->sent.push_back(info);
  }
  return false;
}

/// On the way to the call's entry the program's own code may run, if it has the thread led there:
/// so filters are left out only from the entry on. They come behind it, as of Linux 4.8.
bool Injector::make_call(Thread& thread, const uint64_t (&call)[7]) {
  const bool is_32_bit = thread.process->space->is_32_bit;
  const uint64_t pc = thread.regs.rip + sizeof system_calls(is_32_bit).instruction;
  if (!run(thread)) return false;
  const std::shared_ptr<Lent> lent = thread.doing.lent();
  const bool ours = Lent::stands_before(thread, pc, call) &&
                    (!lent->filtered || lent->suspend_filters(thread.tid));
  if (!ours) {
    (void)regs_of(thread);
    lent->cancel_call(thread.tid, thread.regs);
    (void)run(thread);
  }
  const bool made = ours && run(thread);
  if (lent->filtered && thread.run == Run::Stopped)
    trace(PTRACE_SETOPTIONS, thread.tid, 0, lent->options);
  return made;
}

/// Behind lend(), as often as one likes, and until it fails.
Result<int64_t> Injector::call_lent(Thread& thread, const uint64_t (&call)[7]) {
  AddressSpace& space = *thread.process->space;
  if (!is_system_call(space, space.system_call_at))
    return {Errc::Target, "the system call instruction is gone"};
  user_regs_struct& regs_now = thread.regs;
  regs_now = thread.doing.lent()->regs;
  regs_now.rip = space.system_call_at;
  set_system_call(regs_now, call, space.is_32_bit);
  trace(PTRACE_SETREGS, thread.tid, 0, &regs_now);
  if (!make_call(thread, call))
    return {Errc::Target, "a system call could not be run in the program"};
  return system_call_result(regs_of(thread), space.is_32_bit);
}

Status Injector::give_back(Thread& thread) {
  if (thread.run == Run::Late)
    thread.process->space->no_calls_until_ns = monotonic_ns() + kNoCallsNs;
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  Lent::give_back(thread);
  // To a stop that has no system call behind it.
  if (!interrupt(thread))
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  return {};
}

/// On to the next stop, without a step in the program. False: it is gone, or waits in the kernel.
bool Injector::interrupt(Thread& thread) {
  thread.run = Run::Running;
  thread.regs_state = Thread::Registers::Unknown;
  thread.asked = true;
  trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
  trace(PTRACE_CONT, thread.tid, 0, uint64_t{0});
  const Waited waited = stops_.await_within(thread.tid, Lent::kCallNs);
  if (waited == Waited::GaveUp) late_.give_up(thread, '?');
  if (waited != Waited::Stopped) return false;
  thread.fresh = false;
  thread.asked = false;
  return true;
}

std::optional<Injector::Taken> Injector::take_signal(const AddressSpace& space) {
  if (injectable(space) != nullptr || monotonic_ns() < space.no_calls_until_ns) return std::nullopt;
  for (Thread* thread : threads_.all()) {
    if (thread->process->space.get() != &space || thread->process->leaving) continue;
    Taken out;
    if (is_frozen(thread->process->pid)) return std::nullopt;
    if (!stands_by_signal(*thread, out.signal)) continue;
    out.tid = thread->tid;
    out.pending = std::exchange(thread->pending, std::nullopt);
    out.deferred_signal = std::exchange(thread->deferred_signal, 0);
    if (interrupt(*thread) && stands_in_program(*thread)) return out;
    // It is at another stop, or on its way to one. What it was to get comes from us then.
    const int signal = out.deferred_signal != 0 ? out.deferred_signal : out.signal.si_signo;
    if (signal == out.signal.si_signo) send_again(thread->process->pid, thread->tid, out.signal);
    else tgkill(thread->process->pid, thread->tid, signal);
    return std::nullopt;
  }
  return std::nullopt;
}

bool Injector::is_ours(const Thread& thread, int signal) {
  siginfo_t info{};
  return is_signal_stop(thread.status) && stop_signal(thread.status) == signal &&
         trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) == 0 && info.si_code == SI_TKILL &&
         info.si_pid == getpid();
}

/// The kernel takes a signal's description from its tracer where the thread stands by that signal,
/// so another one of the same number is sent to it. What else comes before is delivered.
void Injector::put_back(const Taken& taken) {
  constexpr int kTriesMax = 8;
  constexpr int64_t kAllNs = 40'000'000;
  Thread* const thread = threads_.find(taken.tid);
  if (thread == nullptr || thread->run != Run::Stopped) return;
  if (tgkill(thread->process->pid, thread->tid, taken.signal.si_signo) != 0) return;  // it is gone
  const int64_t end = monotonic_ns() + kAllNs;
  int deliver = 0;
  for (int tries = 0; tries < kTriesMax && monotonic_ns() < end; ++tries) {
    thread->run = Run::Running;
    thread->regs_state = Thread::Registers::Unknown;
    trace(PTRACE_CONT, thread->tid, 0, static_cast<uint64_t>(deliver));
    const Waited waited = stops_.await_within(thread->tid, end - monotonic_ns());
    if (waited == Waited::GaveUp) late_.give_up(*thread, '?');
    if (waited != Waited::Stopped) return;
    thread->fresh = false;
    if (is_ours(*thread, taken.signal.si_signo)) {
      siginfo_t signal = taken.signal;
      trace(PTRACE_SETSIGINFO, thread->tid, 0, &signal);
      thread->pending = taken.pending;
      thread->deferred_signal = taken.deferred_signal;
      return;
    }
    deliver = is_signal_stop(thread->status) ? stop_signal(thread->status) : 0;
  }
}

}  // namespace tracewell::target::live
