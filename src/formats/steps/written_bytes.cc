#include "formats/steps/written_bytes.h"

#include <algorithm>

namespace tracewell::formats {

void WrittenBytes::clear() {
  bytes_.clear();
  unknown_.clear();
}

void WrittenBytes::add(uint64_t address, Bytes bytes) {
  for (const uint8_t byte : bytes) bytes_.push_back({address++, byte});
}

void WrittenBytes::add_unknown(uint64_t address, uint64_t size) {
  if (size != 0) unknown_.push_back({address, address + std::min(size - 1, UINT64_MAX - address)});
}

void WrittenBytes::sort() {
  std::ranges::stable_sort(bytes_, {}, &std::pair<uint64_t, uint8_t>::first);
  std::ranges::sort(unknown_, {}, &Range::first);
  size_t kept = 0;
  for (const Range& one : unknown_) {
    if (kept != 0 && one.first <= unknown_[kept - 1].last)
      unknown_[kept - 1].last = std::max(unknown_[kept - 1].last, one.last);
    else
      unknown_[kept++] = one;
  }
  unknown_.resize(kept);
}

std::optional<uint8_t> WrittenBytes::find(uint64_t address) const {
  const auto behind =
      std::ranges::upper_bound(bytes_, address, {}, &std::pair<uint64_t, uint8_t>::first);
  if (behind == bytes_.begin() || behind[-1].first != address) return std::nullopt;
  return behind[-1].second;
}

bool WrittenBytes::is_unknown(uint64_t address) const {
  const auto behind = std::ranges::upper_bound(unknown_, address, {}, &Range::first);
  return behind != unknown_.begin() && address <= behind[-1].last;
}

}  // namespace tracewell::formats
