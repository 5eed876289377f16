#include "fast/area.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <type_traits>

#include "base/check.h"

namespace tracewell::fast {

tracewell_area& make_area(std::span<uint8_t> memory, const AreaShape& shape) {
  TW_CHECK(std::has_single_bit(shape.rings) && std::has_single_bit(shape.ring_bytes));
  TW_CHECK(shape.ring_bytes >= 4096 && memory.size() >= shape.bytes());
  auto& area = *reinterpret_cast<tracewell_area*>(memory.data());
  area.bytes = shape.bytes();
  area.rings = shape.rings;
  area.ring_bytes = shape.ring_bytes;
  area.keys_offset = shape.keys_offset();
  area.rings_offset = shape.rings_offset();
  area.commit_offset = shape.commit_offset();
  area.data_offset = shape.data_offset();
  area.data_stride = shape.data_stride();
  area.magic = TRACEWELL_AREA_MAGIC;
  return area;
}

tracewell_geometry make_geometry(const AreaShape& shape, uint64_t address) {
  tracewell_geometry geometry{};
  const auto place = [address](auto& pointer, uint64_t offset) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(address + offset);
  };
  place(geometry.area, 0);
  place(geometry.keys_of_rings, shape.keys_offset());
  place(geometry.rings, shape.rings_offset());
  place(geometry.vectors, shape.vectors_offset());
  place(geometry.commits, shape.commit_offset());
  place(geometry.data, shape.data_offset());
  geometry.data_stride = shape.data_stride();
  geometry.ring_count = shape.rings;
  geometry.ring_bytes = shape.ring_bytes;
  return geometry;
}

void set_vectors(tracewell_geometry& geometry, std::span<const tracewell_vector_part> parts,
                 uint64_t direct) {
  TW_CHECK(parts.size() <= TRACEWELL_VECTOR_PARTS);
  std::ranges::copy(parts, geometry.vector_parts);
  geometry.vector_part_count = static_cast<uint32_t>(parts.size());
  geometry.vectors_direct = direct;
  for (const tracewell_vector_part& part : parts) {
    const int number = std::countr_zero(part.component);
    if (number < int{TRACEWELL_COMPONENTS})
      geometry.component_at[number] = static_cast<uint16_t>(part.offset);
  }
}

std::optional<uint32_t> claim_ring(std::span<uint8_t> memory, const AreaShape& shape, uint64_t key,
                                   uint32_t tid) {
  auto* const keys = reinterpret_cast<uint64_t*>(memory.data() + shape.keys_offset());
  auto* const rings = reinterpret_cast<tracewell_frame_ring*>(memory.data() + shape.rings_offset());
  uint32_t at = tracewell_ring_at(key, shape.rings);
  for (uint32_t looked = 0; looked < shape.rings; ++looked, at = (at + 1) % shape.rings) {
    uint64_t there = 0;
    if (!std::atomic_ref(keys[at]).compare_exchange_strong(there, key) && there != key) continue;
    std::atomic_ref(rings[at].tid).store(tid, std::memory_order_relaxed);
    return at;
  }
  return std::nullopt;
}

}  // namespace tracewell::fast
