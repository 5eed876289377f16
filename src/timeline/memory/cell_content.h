// What eight bytes of memory held at a moment, put together from all segments that tell of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "timeline/index/index_file.h"
#include "timeline/memory/cell_history.h"

namespace tracewell::timeline {

/// Steps from one to another, which is excluded.
using Stretch = std::pair<uint64_t, uint64_t>;

/// A step of a segment, before which steps of it are meant: those before `step`, cut to its own.
inline uint64_t within(const Segment& segment, uint64_t step) {
  return step <= segment.first ? 0 : std::min(step - segment.first, segment.count);
}
/// The last that does not begin behind a step. There is one at least.
size_t segment_of(const Index& index, uint64_t step);

/// Each byte is in one of the masks at most; what is in none is zero.
struct CellBytes {
  uint64_t value = 0;  // little-endian, as in memory
  ByteMask told = 0, inferred = 0, kept = 0;
};
/// `wanted` bytes of cell `cell` in front of step `at`, by what is told in the stretch around it.
CellBytes cell_bytes(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                     ByteMask wanted);

/// What was told of them before that, and not by the step itself; `opening`: the last one.
CellContent cell_left(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                      ByteMask wanted, const std::optional<Opening>& opening);

/// Bytes that step `at` finds otherwise than they were known to be.
struct CellChange {
  ByteMask bytes = 0;
  uint64_t old_value = 0, new_value = 0;
};
CellChange cell_change(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                       ByteMask wanted);
/// When others can have changed one of these: it began in step `since` or behind it, and was over
/// before step `until`.
struct ChangeTime {
  uint64_t since = 0, until = 0;
  bool operator==(const ChangeTime&) const = default;
};
ChangeTime change_time(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                       ByteMask byte);

/// Calls `visit(step)`, counted from where segment `number` begins, for the steps that are the
/// first of it to tell of some of the bytes, and find them otherwise than earlier ones left them.
void each_seam_change(const Index& index, size_t number, const Stretch& stretch, uint64_t cell,
                      ByteMask bytes, const std::function<void(uint32_t)>& visit);

}  // namespace tracewell::timeline
