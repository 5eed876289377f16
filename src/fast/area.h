// The memory that a traced process and its tracer share (ring/frame_ring.h): how large it is, and
// what it begins with. The tracer keeps the numbers to itself: what stands in the memory is the
// process's to spoil.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ring/frame_ring.h"
#include "ring/readable_ranges.h"

namespace tracewell::fast {

struct AreaShape {
  uint32_t threads = 1024;        // entries of the table; a power of two
  uint32_t rings = 64;            // of one thread each
  uint32_t shared_rings = 1;      // at least 1
  uint32_t ring_bytes = 1 << 20;  // a power of two, at least 4096

  static constexpr uint32_t kRingBytesMin = 1 << 14, kRingBytesMax = 1 << 24;
  /// Rings that take at most so much memory, once all of them are in use, for a program that has so
  /// many threads now: as large as they can be with one for each thread and some to spare; where
  /// that cannot be, as many as there can be.
  static AreaShape within(uint64_t bytes, uint32_t threads);

  uint32_t all_rings() const { return rings + shared_rings; }
  uint64_t threads_offset() const { return sizeof(tracewell_area); }
  uint64_t rings_offset() const {
    return whole_pages(threads_offset() + uint64_t{threads} * sizeof(tracewell_thread));
  }
  uint64_t vectors_offset() const {
    return whole_pages(rings_offset() + uint64_t{all_rings()} * sizeof(tracewell_frame_ring));
  }
  uint64_t ranges_offset() const {
    return whole_pages(vectors_offset() + uint64_t{rings} * sizeof(tracewell_vectors));
  }
  uint64_t commit_offset() const {
    return whole_pages(ranges_offset() + sizeof(tracewell_ranges));
  }
  uint64_t cells() const { return ring_bytes / TRACEWELL_CELL; }
  uint64_t data_offset() const {
    return whole_pages(commit_offset() + all_rings() * cells() * sizeof(uint32_t));
  }
  /// What nobody has written to takes no memory.
  uint64_t bytes() const { return data_offset() + uint64_t{all_rings()} * ring_bytes; }
  uint32_t record_bytes_max() const { return std::min(TRACEWELL_RECORD_MAX, ring_bytes / 2); }

 private:
  static constexpr uint64_t whole_pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
};

/// `memory` has shape.bytes() bytes, all of them 0, and is aligned to a page. It has a reader.
tracewell_area& make_area(std::span<uint8_t> memory, const AreaShape& shape);

/// The same for hits, where `address` is the area's in the process.
tracewell_geometry make_geometry(const AreaShape& shape, uint64_t address);

/// What hits tell of vector state: changes of these pieces of what XSAVEC stores, at most
/// TRACEWELL_VECTOR_PARTS; without any, all of it each time. `direct`: components that a hit may
/// compare in their registers.
void set_vectors(tracewell_geometry& geometry, std::span<const tracewell_vector_part> parts,
                 uint64_t direct);

/// Where a thread's hits are recorded: the number of a ring, that of threads of their own first.
struct RingPlace {
  uint32_t ring = 0;
  bool is_shared = false;
};

/// Makes the thread with this key known, and gives it a ring, before its first hit.
RingPlace claim_ring(std::span<uint8_t> memory, const AreaShape& shape, uint64_t key, uint32_t tid);

/// What the table says of threads with this number, which know themselves by `own`.
std::vector<RingPlace> places_of(std::span<const uint8_t> memory, const AreaShape& shape,
                                 uint32_t tid, uint32_t own);

/// Those threads have ended: they are in the table no more.
void forget_threads(std::span<uint8_t> memory, const AreaShape& shape, uint32_t tid, uint32_t own);

}  // namespace tracewell::fast
