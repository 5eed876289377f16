#include "fast/area.h"

#include <bit>

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

}  // namespace tracewell::fast
