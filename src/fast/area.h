// The memory that a traced process and its tracer share (ring/frame_ring.h): how large it is, and
// what it begins with. The tracer keeps the numbers to itself: what stands in the memory is the
// process's to spoil.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ring/frame_ring.h"

namespace tracewell::fast {

struct AreaShape {
  uint32_t rings = 64;           // a power of two; as many threads can collect at a time
  uint32_t ring_bytes = 1 << 20; // a power of two, at least 4096

  uint64_t keys_offset() const { return sizeof(tracewell_area); }
  uint64_t rings_offset() const { return keys_offset() + uint64_t{rings} * sizeof(uint64_t); }
  uint64_t vectors_offset() const {
    return whole_pages(rings_offset() + uint64_t{rings} * sizeof(tracewell_frame_ring));
  }
  uint64_t commit_offset() const {
    return whole_pages(vectors_offset() + uint64_t{rings} * sizeof(tracewell_vectors));
  }
  uint64_t cells() const { return ring_bytes / TRACEWELL_CELL; }
  uint64_t data_offset() const {
    return whole_pages(commit_offset() + rings * cells() * sizeof(uint32_t));
  }
  /// A record of the largest size may begin in the last cell.
  uint64_t data_stride() const { return uint64_t{ring_bytes} + TRACEWELL_RECORD_MAX; }
  /// Most of it is never touched, and takes no memory.
  uint64_t bytes() const { return data_offset() + rings * data_stride(); }

 private:
  static constexpr uint64_t whole_pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
};

/// `memory` has shape.bytes() bytes, all of them 0, and is aligned to a page.
tracewell_area& make_area(std::span<uint8_t> memory, const AreaShape& shape);

/// The same for hits, where `address` is the area's in the process.
tracewell_geometry make_geometry(const AreaShape& shape, uint64_t address);

/// What hits tell of vector state: changes of these pieces of what XSAVEC stores, at most
/// TRACEWELL_VECTOR_PARTS; without any, all of it each time. `direct`: components that a hit may
/// compare in their registers.
void set_vectors(tracewell_geometry& geometry, std::span<const tracewell_vector_part> parts,
                 uint64_t direct);

/// The number of the ring that the thread with this key will use. nullopt: all are taken.
std::optional<uint32_t> claim_ring(std::span<uint8_t> memory, const AreaShape& shape, uint64_t key,
                                   uint32_t tid);

}  // namespace tracewell::fast
