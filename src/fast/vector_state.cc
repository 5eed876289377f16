#include "fast/vector_state.h"

#include <algorithm>

#include "base/endian.h"

namespace tracewell::fast {
namespace {

// Intel's manual, volume 1, 13.4.2: the header behind the legacy region.
constexpr size_t kPresentAt = 512, kComponentsAt = 520, kHeaderEnd = 576;
constexpr uint64_t kCompacted = uint64_t{1} << 63;

}  // namespace

VectorState::VectorState(std::span<const tracewell_vector_part> parts, uint64_t components)
    : parts_(parts) {
  size_t bytes = kHeaderEnd;
  for (const tracewell_vector_part& part : parts_)
    bytes = std::max<size_t>(bytes, part.offset + part.bytes);
  area_.resize(bytes);
  store_uint(&area_[kComponentsAt], components | kCompacted, 8, Endian::Little);
}

Bytes VectorState::apply(const RecordBlock& block) {
  const tracewell_vector_change& change = block.change;
  if (change.base != 0 && change.base != generation_) return {};
  generation_ = 0;
  for (size_t i = 0; i < parts_.size() && change.base == 0; ++i)
    if ((change.present & parts_[i].component) != 0 && (change.parts >> i & 1) == 0) return {};
  Bytes rest = block.bytes;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const tracewell_vector_part& part = parts_[i];
    if ((change.parts >> i & 1) == 0) continue;
    if (rest.size() < part.bytes) return {};
    std::ranges::copy(rest.first(part.bytes), area_.begin() + part.offset);
    rest = rest.subspan(part.bytes);
  }
  generation_ = change.generation;
  store_uint(&area_[kPresentAt], change.present, 8, Endian::Little);
  return area_;
}

}  // namespace tracewell::fast
