// Memory accesses for formats that show each one as a number: pieces of 1, 2, 4 or 8 bytes, none
// across a multiple of 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/steps/steps_only.h"
#include "model/event.h"

namespace tracewell::formats {

/// `bytes` are those that were read, or those that a Write or ReadWrite left; never empty.
struct MemoryPiece {
  Step::MemoryAccess::Kind kind = Step::MemoryAccess::Kind::Read;  // never Nearby
  uint64_t address = 0;
  Bytes bytes;
};

/// The size of the piece that begins at `address`, of at most `left` bytes.
size_t piece_bytes(uint64_t address, size_t left);

/// What the step's accesses are in such pieces, in their order. One that was both is shown as a
/// read and a write beside each other if it is known what was read, else as one ReadWrite. Counts
/// what cannot be shown. `pieces` is emptied first; the bytes are the step's.
void memory_pieces(const Step& step, StepsOnly& left_out, std::vector<MemoryPiece>& pieces);

}  // namespace tracewell::formats
