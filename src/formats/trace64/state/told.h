// Accesses that a block of ours spells out, because the entries of the step's own block, with the
// instruction's operands, would read as others: bytes in them are not known, for one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/trace64/blocks/block.h"
#include "formats/trace64/state/memory.h"
#include "model/batch.h"

namespace tracewell::formats::trace64 {

struct ToldAccesses {
  bool incomplete = false;  // Step::memory_incomplete
  std::vector<Step::MemoryAccess> accesses;
};

/// The data of such a block, for accesses whose contents stand in `entries`. Where they do not, the
/// access is told without; returns how many these are.
uint32_t render_told(const Shape& shape, const MemoryEntries& entries,
                     std::span<const Step::MemoryAccess> accesses, bool incomplete,
                     std::vector<uint8_t>& data);

/// The accesses of the step in `block`; contents are in the file or in `batch`. False: the data is
/// not about such a block.
bool read_told(const Shape& shape, const Block& block, Bytes data, Batch& batch,
               ToldAccesses& out);

/// The same accesses, with the same known of them?
bool same_accesses(std::span<const Step::MemoryAccess> a, std::span<const Step::MemoryAccess> b);

}  // namespace tracewell::formats::trace64
