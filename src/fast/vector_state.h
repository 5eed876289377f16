// The vector state that records of one ring tell of, each only what is not as in the one before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "fast/record.h"
#include "ring/frame_ring.h"

namespace tracewell::fast {

class VectorState {
 public:
  /// `parts` of an area of XSAVEC (borrowed), with these components.
  VectorState(std::span<const tracewell_vector_part> parts, uint64_t components);

  /// A VectorChange. The whole area, valid until the next one; empty: it changes something that was
  /// never told, or makes no sense.
  Bytes apply(const RecordBlock& block);

 private:
  std::span<const tracewell_vector_part> parts_;
  std::vector<uint8_t> area_;
  uint32_t generation_ = 0;
};

}  // namespace tracewell::fast
