// Running a system call in the traced program, to map memory near the code that is patched. Not
// from a thread that is about to get a signal: that would be lost. One that was interrupted inside
// a system call is led back to the very same stop, where the kernel restarts it.
#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <sys/syscall.h>

#include <fmt/format.h>

#include "target/linux/compat32.h"
#include "target/linux/tracer.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kReach = 0x7ff00000;  // of a 32-bit displacement, with a margin
constexpr uint64_t kLowest = 0x10000;
constexpr uint64_t kEnd32 = uint64_t{1} << 32;
constexpr uint64_t kSignalSetBytes = 8;
constexpr int64_t kCallNs = 5 * kSecond;  // of ours, which wait for nothing

bool is_system_call(const AddressSpace& space, uint64_t at) {
  uint8_t code[2] = {};
  return space.read_raw(at, code) == 2 &&
         std::equal(code, code + 2, system_calls(space.is_32_bit).instruction);
}

uint64_t search(const AddressSpace& space, const Mapping& map) {
  constexpr uint64_t kSearchMax = 1 << 20;
  std::vector<uint8_t> code(std::min(map.end - map.start, kSearchMax));
  code.resize(space.read_raw(map.start, code));
  const auto& call = system_calls(space.is_32_bit).instruction;
  const auto found = std::search(code.begin(), code.end(), call, call + 2);
  return found == code.end() ? 0 : map.start + static_cast<uint64_t>(found - code.begin());
}

/// The vdso has one on every kernel that has a vdso.
uint64_t find_system_call(const AddressSpace& space, Tid tid) {
  const std::vector<Mapping> maps = mappings(tid);
  for (const bool vdso : {true, false})
    for (const Mapping& map : maps) {
      if (!map.executable || (map.path == "[vdso]") != vdso || map.path == "[vsyscall]") continue;
      if (const uint64_t at = search(space, map); at != 0) return at;
    }
  return 0;
}

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

bool in_reach(uint64_t start, uint64_t size, uint64_t address) {
  return std::max(distance(start, address), distance(start + size, address)) < kReach;
}

/// Free places in reach, the nearest first: the top end of each gap. Not below a stack: that grows.
std::vector<uint64_t> free_places(const std::vector<Mapping>& maps, uint64_t address,
                                  bool is_32_bit) {
  std::vector<uint64_t> result;
  uint64_t gap_start = kLowest;
  for (const Mapping& map : maps) {
    const uint64_t size = AddressSpace::kArenaBytes;
    const uint64_t start = map.start - size;
    const bool stack = map.path.starts_with("[stack") || map.path == "[vsyscall]";
    if (is_32_bit && map.start > kEnd32) break;
    if (!stack && map.start > size && start >= gap_start && in_reach(start, size, address))
      result.push_back(start);
    gap_start = map.end;
  }
  std::sort(result.begin(), result.end(), [&](uint64_t a, uint64_t b) {
    return distance(a, address) < distance(b, address);
  });
  return result;
}

bool stands_in_program(const Thread& thread) {
  if (thread.run != Run::Stopped || thread.fresh || is_group_stop(thread.status)) return false;
  if (thread.in_system_call || thread.deferred_signal != 0) return false;
  if (thread.pending && thread.pending->kind == StopEvent::Kind::Signal) return false;
  if (stop_event(thread.status) == kEventStop) return true;
  return is_signal_stop(thread.status) && stop_signal(thread.status) == SIGTRAP;
}

}  // namespace

/// The best is one that is outside the kernel.
Thread* Tracer::injectable(AddressSpace& space) {
  Thread* result = nullptr;
  for (Thread* thread : all_threads()) {
    if (thread->process->space.get() != &space || thread->process->leaving) continue;
    if (!stands_in_program(*thread) || in_32_bit_code(regs(*thread)) != space.is_32_bit) continue;
    result = thread;
    if (static_cast<int64_t>(regs(*thread).orig_rax) == -1) break;
  }
  return result;
}

/// What a thread is to have again behind a call that it made for us.
struct Lent {
  user_regs_struct regs{};
  uint64_t blocked = 0;
  std::optional<uint64_t> options;  // set for its time
  std::optional<CallDispatch> dispatch;
  bool skipped = false;   // the call is not to be made any more
  std::vector<int> sent;  // signals that came meanwhile, of somebody's
};

void Tracer::give_back(Thread& thread) {
  const std::shared_ptr<Lent> lent = std::move(thread.lent);
  thread.regs = lent->regs;
  thread.regs_state = Thread::Registers::Changed;
  (void)flush_regs(thread);
  trace(PTRACE_SETSIGMASK, thread.tid, kSignalSetBytes, &lent->blocked);
  if (lent->options) trace(PTRACE_SETOPTIONS, thread.tid, 0, *lent->options);
  if (lent->dispatch) (void)set_call_dispatch(thread.tid, *lent->dispatch);
  for (const int signal : lent->sent) tgkill(thread.process->pid, thread.tid, signal);
}

/// One that was given up in the middle of it has stopped after all. False: it is not through yet.
bool Tracer::take_back(Thread& thread, int status) {
  if (stop_event(status) == 0 && stop_signal(status) == kSyscallStop && !thread.lent->skipped) {
    thread.regs_state = Thread::Registers::Unknown;
    if (static_cast<int64_t>(regs(thread).rax) == -ENOSYS) {  // at the entry
      thread.lent->skipped = true;
      thread.regs.orig_rax = ~uint64_t{0};
      thread.regs_state = Thread::Registers::Changed;
      (void)flush_regs(thread);
      trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
      return false;
    }
  }
  give_back(thread);
  return true;
}

/// On to the entry or the exit of the call: true. Job control may come between, and signals from
/// somewhere; what the instruction itself causes is the end of it, since it was no call then.
bool Tracer::run_lent(Thread& thread) {
  constexpr int kTriesMax = 64;
  bool asked = false;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    thread.run = Run::Running;
    thread.regs_state = Thread::Registers::Unknown;
    thread.asked = false;
    trace(PTRACE_SYSCALL, thread.tid, 0, uint64_t{0});
    Waited waited = await_within(thread.tid, kCallNs);
    if (waited == Waited::GaveUp) {
      asked = true;
      trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
      waited = await_within(thread.tid, kCallNs);
    }
    if (waited == Waited::GaveUp) late.give_up(thread, '?');
    if (waited != Waited::Stopped) return false;
    thread.fresh = false;
    if (stop_event(thread.status) == 0 && stop_signal(thread.status) == kSyscallStop) return true;
    if (asked) return false;  // it runs through something else
    if (!is_signal_stop(thread.status)) continue;
    siginfo_t info{};
    if (trace(PTRACE_GETSIGINFO, thread.tid, 0, &info) != 0 || info.si_code > 0) return false;
    thread.lent->sent.push_back(stop_signal(thread.status));
  }
  return false;
}

/// Filters and dispatchers of system calls are the program's, and not for ours.
Status Tracer::lend(Thread& thread) {
  auto lent = std::make_shared<Lent>();
  const uint64_t options = trace_options(!thread.process->attached);
  const auto status = proc_status(thread.tid);
  lent->dispatch = call_dispatch(thread.tid);
  if (lent->dispatch && !set_call_dispatch(thread.tid, {}))
    return errno_error("system calls are dispatched (PR_SET_SYSCALL_USER_DISPATCH)", Errc::Target);
  if (!status || status->seccomp != 0) {
    lent->options = options;
    if (trace(PTRACE_SETOPTIONS, thread.tid, 0, options | PTRACE_O_SUSPEND_SECCOMP) != 0) {
      const Error error = errno_error("system calls are filtered (seccomp)", Errc::Target);
      if (lent->dispatch) (void)set_call_dispatch(thread.tid, *lent->dispatch);
      return error;
    }
  }
  lent->regs = regs(thread);
  // Signals wait; but for those that an instruction causes: the kernel takes the handler of one
  // that is blocked away.
  trace(PTRACE_GETSIGMASK, thread.tid, kSignalSetBytes, &lent->blocked);
  uint64_t wait = ~uint64_t{0};
  for (const int signal : {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE})
    wait &= ~(uint64_t{1} << (signal - 1));
  wait |= lent->blocked;
  trace(PTRACE_SETSIGMASK, thread.tid, kSignalSetBytes, &wait);
  thread.lent = std::move(lent);
  return {};
}

Result<int64_t> Tracer::remote_system_call(Thread& thread, const uint64_t (&call)[7]) {
  AddressSpace& space = *thread.process->space;
  if (!stands_in_program(thread) || in_32_bit_code(regs(thread)) != space.is_32_bit)
    return {Errc::Target, "no thread can run a system call for us now"};
  if (space.system_call_at == 0 || !is_system_call(space, space.system_call_at))
    space.system_call_at = find_system_call(space, thread.tid);
  if (space.system_call_at == 0) return {Errc::Target, "no system call instruction found"};
  TW_RETURN_IF_ERROR(lend(thread));
  user_regs_struct& regs_now = thread.regs;
  regs_now.rip = space.system_call_at;
  set_system_call(regs_now, call, space.is_32_bit);
  trace(PTRACE_SETREGS, thread.tid, 0, &regs_now);
  Result<int64_t> result = Error{Errc::Target, "a system call could not be run in the program", {}};
  if (run_lent(thread) && run_lent(thread))
    result = system_call_result(regs(thread), space.is_32_bit);
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  give_back(thread);
  // To a stop that has no system call behind it.
  thread.run = Run::Running;
  thread.regs_state = Thread::Registers::Unknown;
  thread.asked = true;
  trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
  trace(PTRACE_CONT, thread.tid, 0, uint64_t{0});
  const Waited waited = await_within(thread.tid, kCallNs);
  if (waited == Waited::GaveUp) late.give_up(thread, '?');
  if (waited != Waited::Stopped)
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  thread.fresh = false;
  thread.asked = false;
  return result;
}

Arena* Tracer::arena_near(Thread& thread, uint64_t address) {
  AddressSpace& space = *thread.process->space;
  for (Arena& arena : space.arenas())
    if (in_reach(arena.start, arena.size, address) &&
        arena.slots.size() < arena.size / AddressSpace::kSlotBytes)
      return &arena;
  if (space.cannot_map || !options_.map_memory) return nullptr;
  size_t tries = 4;
  for (const uint64_t start : free_places(mappings(thread.tid), address, space.is_32_bit)) {
    if (tries-- == 0) break;
    const auto mapped = remote_system_call(
        thread, {system_calls(space.is_32_bit).mmap, start, AddressSpace::kArenaBytes,
                 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                 ~uint64_t{0}, 0});
    if (!mapped.ok()) break;
    if (static_cast<uint64_t>(*mapped) != start) continue;
    Arena arena;
    arena.start = start;
    arena.size = AddressSpace::kArenaBytes;
    space.arenas().push_back(std::move(arena));
    return &space.arenas().back();
  }
  space.cannot_map = thread.run == Run::Stopped;
  return nullptr;
}

void Tracer::unmap_arenas(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  const auto number = system_calls(space.is_32_bit).munmap;
  for (const Arena& arena : space.arenas())
    if (!remote_system_call(thread, {number, arena.start, arena.size, 0, 0, 0, 0}).ok()) break;
  space.arenas().clear();
}

}  // namespace tracewell::target::live
