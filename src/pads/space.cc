#include "pads/space.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tracewell::pads {
namespace {

constexpr uint64_t kHalf = uint64_t{1} << 31;  // displacements count from -kHalf
constexpr uint32_t kSign = uint32_t{1} << 31;

/// The least number from `least` on with (number & mask) == value.
std::optional<uint32_t> next_match(uint32_t least, uint32_t mask, uint32_t value) {
  const uint32_t candidate = (least & ~mask) | value;
  if (candidate == least) return least;
  const uint32_t highest = std::bit_floor(candidate ^ least);  // a bit that the mask fixes
  if (candidate > least) return candidate & ~(~mask & (highest - 1));
  // Too small: the lowest free bit above that is still 0 has to become 1.
  const uint32_t above = ~mask & ~least & ~(highest | (highest - 1));
  if (above == 0) return std::nullopt;
  const uint32_t raised = above & (0 - above);
  return (candidate | raised) & ~(~mask & (raised - 1));
}

using Ranges = std::map<uint64_t, uint64_t>;

/// The end of the range that overlaps, 0 = none does.
uint64_t overlap_end(const Ranges& ranges, Range range) {
  auto it = ranges.lower_bound(range.end);
  if (it == ranges.begin()) return 0;
  --it;
  return it->second > range.start ? it->second : 0;
}

void insert(Ranges& ranges, Range range) {
  if (range.start >= range.end) return;
  auto it = ranges.upper_bound(range.start);
  if (it != ranges.begin() && std::prev(it)->second >= range.start) {
    --it;
    range.start = it->first;
  }
  while (it != ranges.end() && it->first <= range.end) {
    range.end = std::max(range.end, it->second);
    it = ranges.erase(it);
  }
  ranges[range.start] = range.end;
}

Range whole_pages(Range range) {
  const uint64_t last = PadSpace::kPageBytes - 1;
  const uint64_t end = range.end > ~last ? ~last : (range.end + last) & ~last;
  return {range.start & ~last, end};
}

}  // namespace

bool Pattern::holds(uint64_t address) const {
  const int64_t distance = static_cast<int64_t>(address - base);
  if (distance != static_cast<int32_t>(distance)) return false;
  return (static_cast<uint32_t>(distance) & mask) == value;
}

std::optional<uint64_t> Pattern::next(uint64_t least) const {
  // As unsigned numbers from -2 GiB on; those of a base below 2 GiB may begin under 0.
  const uint64_t lowest = base - kHalf;
  const bool under_zero = base < kHalf;
  uint64_t from = least - lowest;
  if (!under_zero && least < lowest) from = 0;
  if (from > UINT32_MAX) return std::nullopt;
  const uint32_t flipped = (mask & kSign) != 0 ? value ^ kSign : value;
  const auto found = next_match(static_cast<uint32_t>(from), mask, flipped);
  if (!found) return std::nullopt;
  return lowest + *found;
}

PadSpace::PadSpace(const std::vector<Range>& taken) {
  for (const Range& range : taken) insert(taken_, whole_pages(range));
}

uint64_t PadSpace::obstacle(Range range) const {
  return std::max(overlap_end(taken_, whole_pages(range)), overlap_end(pads_, range));
}

bool PadSpace::is_free(Range range) const {
  return range.start >= kLowest && range.end <= kHighest && obstacle(range) == 0;
}

std::optional<uint64_t> PadSpace::find(const Pattern& pattern, Range window, uint64_t bytes,
                                       uint64_t from) const {
  uint64_t least = std::max({from, window.start, kLowest});
  const uint64_t end = std::min(window.end, kHighest);
  for (int looks = 0; looks < kLooksMax; ++looks) {
    const auto at = pattern.next(least);
    if (!at || *at >= end || end - *at < bytes) return std::nullopt;
    const uint64_t next = obstacle({*at, *at + bytes});
    if (next == 0) return at;
    least = next;
  }
  return std::nullopt;
}

void PadSpace::place(Range range) {
  TW_CHECK(is_free(range));
  insert(pads_, range);
}

void PadSpace::remove(Range range) {
  auto it = pads_.upper_bound(range.start);
  TW_CHECK(it != pads_.begin());
  --it;
  const Range all{it->first, it->second};
  TW_CHECK(range.start >= all.start && range.end <= all.end);
  pads_.erase(it);
  if (all.start < range.start) pads_[all.start] = range.start;
  if (range.end < all.end) pads_[range.end] = all.end;
}

void PadSpace::refuse(Range range) { insert(taken_, whole_pages(range)); }

size_t PadSpace::pages() const {
  size_t count = 0;
  uint64_t last = 0;  // behind the last page that was counted
  for (const auto& [start, end] : pads_) {
    const uint64_t first = std::max(start / kPageBytes, last);
    const uint64_t behind = (end - 1) / kPageBytes + 1;
    if (behind <= first) continue;
    count += behind - first;
    last = behind;
  }
  return count;
}

}  // namespace tracewell::pads
