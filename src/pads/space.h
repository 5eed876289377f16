// PadSpace: a process's address space as far as pads are concerned: what is taken, and where a pad
// can stand whose address must have certain bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pads/code.h"

namespace tracewell::pads {

/// The addresses that a `jmp rel32` can reach of whose displacement some bits cannot be chosen:
/// base + d for each signed 32-bit d with (d & mask) == value.
struct Pattern {
  uint64_t base = 0;  // behind the jump
  uint32_t mask = 0, value = 0;

  bool holds(uint64_t address) const;
  /// The lowest such address that is not below `least`; nullopt when there is none.
  std::optional<uint64_t> next(uint64_t least) const;
};

/// Pads need whole pages; a page that anything else uses has no room for them. What must stay free
/// though nothing is there yet (where the stack and the heap grow) counts as taken, too: it is for
/// the caller to say so.
class PadSpace {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint64_t kLowest = 0x10000;  // vm.mmap_min_addr, as it is nearly everywhere
  static constexpr uint64_t kHighest = (uint64_t{1} << 47) - kPageBytes;

  explicit PadSpace(const std::vector<Range>& taken);

  /// Where `bytes` are free: the lowest place from `from` on that is in `window` and on the
  /// pattern. It looks at kLooksMax taken places at most.
  std::optional<uint64_t> find(const Pattern& pattern, Range window, uint64_t bytes,
                               uint64_t from) const;
  bool is_free(Range range) const;
  /// A pad is put there, or taken away.
  void place(Range range);
  void remove(Range range);
  /// Memory that could not be had after all.
  void refuse(Range range);
  /// Pages that hold pads.
  size_t pages() const;

  static constexpr int kLooksMax = 256;

 private:
  /// The end of what overlaps the range; 0 when nothing does.
  uint64_t obstacle(Range range) const;
  std::map<uint64_t, uint64_t> taken_;  // start, end; whole pages, apart from each other
  std::map<uint64_t, uint64_t> pads_;   // start, end
};

}  // namespace tracewell::pads
