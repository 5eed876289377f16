// Accesses of a step that are larger than any instruction makes, and of which no content is told:
// of their bytes, only the first ones are in the histories of cells. The others are told here, so
// that who asks for accesses finds them; of what was there, they say nothing (behind one that
// writes there is an opening). A stream of Part::Openings:
//
//   for each: varint steps since the one before, the first from the stream's first step · varint
//   first address · varint bytes - 1 · u8 CellAccess::Kind
#pragma once

#include <cstdint>
#include <vector>

#include "base/varint.h"
#include "timeline/index/segment.h"
#include "timeline/memory/cell_state.h"
#include "timeline/memory/openings.h"

namespace tracewell::timeline {

struct LargeAccess {
  uint32_t step = 0;  // from where the segment begins
  CellAccess::Kind kind = CellAccess::kRead;
  uint64_t first = 0, last = 0;  // addresses
};

/// Of those by ascending step.
std::vector<uint8_t> large_accesses_stream(const std::vector<LargeAccess>& all);

/// Calls `visit(step)` for each of a segment that touches bytes from `first` to `last` by one of
/// `kinds` (bits of CellAccess::Kind); by ascending step. Damage ends it.
template <class Visit>
void each_large_access(const Segment& segment, uint64_t first, uint64_t last, uint8_t kinds,
                       Visit&& visit) {
  if ((kinds & CellAccess::kBoth) == 0) return;  // they tell of nothing else
  const auto stream = segment.table(Part::Openings).find(static_cast<uint64_t>(OpeningKey::Large));
  if (!stream) return;
  Cursor in(stream->bytes);
  for (uint64_t step = stream->first; !in.at_end();) {
    step += in.varint();
    const uint64_t from = in.varint(), to = from + in.varint();
    const uint8_t kind = in.byte();
    if (in.bad() || to < from || step >= segment.count) return;
    if ((kind & kinds) != 0 && from <= last && to >= first) visit(static_cast<uint32_t>(step));
  }
}

}  // namespace tracewell::timeline
