#include "target/linux/inject/arenas.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "target/linux/kernel/compat32.h"
#include "target/linux/memory/code_facts.h"

namespace tracewell::target::live {
namespace {

constexpr uint64_t kReach = 0x7ff00000;  // of a 32-bit displacement, with a margin
constexpr uint64_t kLowest = 0x10000;
constexpr uint64_t kEnd32 = uint64_t{1} << 32;

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

}  // namespace

Arena* Arenas::near(Thread& thread, uint64_t address) {
  AddressSpace& space = *thread.process->space;
  for (Arena& arena : space.arenas())
    if (in_reach(arena.start, arena.size, address) &&
        arena.slots.size() < arena.size / AddressSpace::kSlotBytes)
      return &arena;
  if (space.cannot_map || !may_map_) return nullptr;
  size_t tries = 4;
  const AddressLayout layout = layout_of(thread.tid, gives_up_);
  for (const uint64_t start : free_places(layout, address, space.is_32_bit)) {
    if (tries-- == 0) break;
    const auto mapped = injector_.system_call(
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

void Arenas::unmap_all(Thread& thread) {
  AddressSpace& space = *thread.process->space;
  std::vector<pads::Range> ranges;
  for (const Arena& arena : space.arenas())
    ranges.push_back({arena.start, arena.start + arena.size});
  injector_.unmap(thread, ranges);
  space.arenas().clear();
}

}  // namespace tracewell::target::live
