// The way from a keyframe of an x64dbg trace to a step near it, at the least cost: what only a look
// at the state of the moment needs.
#pragma once

#include <cstdint>

#include "formats/trace64/scan/scan.h"

namespace tracewell::formats::trace64 {

/// A block, and the step that it is of.
struct BlockPlace {
  uint64_t offset = 0;
  uint64_t seq = 0;
};

/// Goes from `place` to step `to`, taking in what the blocks before that one tell. Stops before
/// `plain_to` (Scan::plain_to()) and wherever something is not plain; all words of `state` must be
/// valid.
void walk_plain(Bytes file, const Shape& shape, uint64_t plain_to, uint64_t to, BlockPlace& place,
                WordState& state);

}  // namespace tracewell::formats::trace64
