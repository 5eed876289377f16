// Running a system call in the traced program, to map memory near the code that is patched. Not
// from a thread that is about to get a signal: that would be lost. Nor from one of the kernel's,
// which would never make the call. One that was interrupted inside a system call is led back to the
// very same stop, where the kernel restarts it.
#include <algorithm>
#include <cerrno>
#include <functional>

#include <sys/mman.h>
#include <sys/syscall.h>

#include <fmt/format.h>

#include "target/linux/inject/lent.h"
#include "target/linux/kernel/compat32.h"
#include "target/linux/kernel/frozen.h"
#include "target/linux/memory/code_facts.h"
#include "target/linux/tracer.h"
#include "target/trap_reason.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kReach = 0x7ff00000;  // of a 32-bit displacement, with a margin
constexpr uint64_t kLowest = 0x10000;
constexpr int64_t kNoCallsNs = 30 * kSecond;
constexpr uint64_t kEnd32 = uint64_t{1} << 32;
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

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

bool in_reach(uint64_t start, uint64_t size, uint64_t address) {
  return std::max(distance(start, address), distance(start + size, address)) < kReach;
}

/// Free places in reach, the nearest first: the top end of each gap.
std::vector<uint64_t> free_places(const AddressLayout& layout, uint64_t address, bool is_32_bit) {
  std::vector<uint64_t> result;
  uint64_t gap_start = kLowest;
  for (const pads::Range& taken : taken_in(layout)) {
    const uint64_t size = AddressSpace::kArenaBytes;
    const uint64_t start = taken.start - size;
    if (is_32_bit && taken.start > kEnd32) break;
    if (taken.start > size && start >= gap_start && in_reach(start, size, address))
      result.push_back(start);
    gap_start = std::max(gap_start, taken.end);
  }
  std::sort(result.begin(), result.end(), [&](uint64_t a, uint64_t b) {
    return distance(a, address) < distance(b, address);
  });
  return result;
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

}  // namespace

/// The best is one that is outside the kernel.
Thread* Tracer::injectable(AddressSpace& space, const Process* of) {
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

Result<int64_t> Tracer::remote_system_call(Thread& thread, const uint64_t (&call)[7]) {
  TW_RETURN_IF_ERROR(lend_for_calls(thread));
  const Result<int64_t> result = call_lent(thread, call);
  TW_RETURN_IF_ERROR(end_lent_calls(thread));
  return result;
}

/// Whatever of them is there. One that cannot be unmapped does not keep the others.
void Tracer::remote_unmap(Thread& thread, std::span<const pads::Range> some) {
  const auto number = system_calls(thread.process->space->is_32_bit).munmap;
  while (!some.empty() && lend_for_calls(thread)) {
    for (bool made = true; made && !some.empty(); some = some.subspan(1)) {
      const pads::Range one = some.front();
      made = call_lent(thread, {number, one.start, one.end - one.start, 0, 0, 0, 0}).ok();
    }
    if (!end_lent_calls(thread)) return;
  }
}

Status Tracer::lend_for_calls(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  if (!stands_in_program(thread) || in_32_bit_code(regs_of(thread)) != space.is_32_bit ||
      runs_in_kernel_only(thread))
    return because(TrapReason::NoCalls, "", Errc::Target);
  // All others of the server's programs may stand still meanwhile.
  if (monotonic_ns() < space.no_calls_until_ns || is_frozen(thread.process->pid))
    return {Errc::Target, "the program does not run (a frozen control group, or it waits in the "
                          "kernel), and makes no system call for us"};
  if (space.system_call_at == 0 || !is_system_call(space, space.system_call_at))
    space.system_call_at = find_system_call(space, thread.tid, gives_up);
  if (space.system_call_at == 0) return {Errc::Target, "no system call instruction found"};
  return Lent::lend(thread);
}

/// Behind lend_for_calls(), as often as one likes, and until it fails.
Result<int64_t> Tracer::call_lent(Thread& thread, const uint64_t (&call)[7]) {
  AddressSpace& space = *thread.process->space;
  if (!is_system_call(space, space.system_call_at))
    return {Errc::Target, "the system call instruction is gone"};
  user_regs_struct& regs_now = thread.regs;
  regs_now = thread.doing.lent()->regs;
  regs_now.rip = space.system_call_at;
  set_system_call(regs_now, call, space.is_32_bit);
  trace(PTRACE_SETREGS, thread.tid, 0, &regs_now);
  if (!Lent::make_call(*this, thread, call))
    return {Errc::Target, "a system call could not be run in the program"};
  return system_call_result(regs_of(thread), space.is_32_bit);
}

Status Tracer::end_lent_calls(Thread& thread) {
  if (thread.run == Run::Late)
    thread.process->space->no_calls_until_ns = monotonic_ns() + kNoCallsNs;
  if (thread.run != Run::Stopped)
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  Lent::give_back(thread);
  // To a stop that has no system call behind it.
  thread.run = Run::Running;
  thread.regs_state = Thread::Registers::Unknown;
  thread.asked = true;
  trace(PTRACE_INTERRUPT, thread.tid, 0, uint64_t{0});
  trace(PTRACE_CONT, thread.tid, 0, uint64_t{0});
  const Waited waited = stops_.await_within(thread.tid, Lent::kCallNs);
  if (waited == Waited::GaveUp) late_.give_up(thread, '?');
  if (waited != Waited::Stopped)
    return {Errc::Target, fmt::format("thread {} is gone, or waits in the kernel", thread.tid)};
  thread.fresh = false;
  thread.asked = false;
  return {};
}

Arena* Tracer::arena_near(Thread& thread, uint64_t address) {
  AddressSpace& space = *thread.process->space;
  for (Arena& arena : space.arenas())
    if (in_reach(arena.start, arena.size, address) &&
        arena.slots.size() < arena.size / AddressSpace::kSlotBytes)
      return &arena;
  if (space.cannot_map || !options_.map_memory) return nullptr;
  size_t tries = 4;
  const AddressLayout layout = layout_of(thread.tid, gives_up);
  for (const uint64_t start : free_places(layout, address, space.is_32_bit)) {
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
  std::vector<pads::Range> ranges;
  for (const Arena& arena : space.arenas())
    ranges.push_back({arena.start, arena.start + arena.size});
  remote_unmap(thread, ranges);
  space.arenas().clear();
}

}  // namespace tracewell::target::live
