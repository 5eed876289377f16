// KnownRanges: what hits may load from, as they find it in the memory that they share with us
// (ring/readable_ranges.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fast/area.h"

namespace tracewell::fast {

class KnownRanges {
 public:
  KnownRanges(std::span<uint8_t> memory, const AreaShape& shape);

  /// From now on these, in any order. Those that touch become one; where there are too many, the
  /// largest stay.
  void set(std::vector<tracewell_range> ranges);
  /// None, until they are set again.
  void clear();
  /// The same, whatever is written there.
  void wipe();
  /// Has a hit read memory that is in none of them, since this was asked last?
  bool wanted();
  /// The next hit that loads asks for the program's handlers.
  void ask_for_handlers();

 private:
  void write(std::span<const tracewell_range> ranges);

  tracewell_ranges& shared_;
  std::vector<tracewell_range> now_;  // as we wrote them
  uint64_t sequence_ = 0;
};

}  // namespace tracewell::fast
