// Blocks of frames (rsp/frames.h) as a trace buffer keeps them: the same, but for registers, most
// of which are zero. Of an 'R' block
//   block = 'r' map | words
// is kept. Bit n % 8 of byte n / 8 of the map says whether word n of the registers is there; the
// others are zero. Words have 8 bytes, the last one perhaps less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::rsp {

/// Appends a frame's data in their compact form; true: there were registers. What is behind a block
/// that is cut, or unknown, is kept as it is.
bool compact_blocks(Bytes data, uint32_t register_block_bytes, Endian endian,
                    std::vector<uint8_t>& out);

/// Appends the data that compact_blocks() was given. Corrupt (unknown block type, registers a
/// second time) or Truncated, with the offset in `compact`: blocks before that were appended.
Status expand_blocks(Bytes compact, uint32_t register_block_bytes, Endian endian,
                     std::vector<uint8_t>& out);

/// How many bytes expand_blocks() appends.
uint64_t expanded_bytes(Bytes compact, uint32_t register_block_bytes, Endian endian);

}  // namespace tracewell::rsp
