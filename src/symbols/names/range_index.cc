#include "symbols/names/range_index.h"

#include <algorithm>

namespace tracewell::symbols {

void RangeIndex::add(uint64_t start, uint64_t end, uint32_t value) {
  if (start < end) ranges_.push_back({start, end, value, static_cast<uint32_t>(ranges_.size())});
}

/// A walk over all starts and ends cuts the addresses into pieces with one answer each.
void RangeIndex::build(const Stop& stop) {
  Work work(UINT64_MAX, stop);
  const bool sorted = sort_unless(stop, ranges_, [](const Range& a, const Range& b) {
    return a.start != b.start ? a.start < b.start : a.order > b.order;
  });
  if (!sorted) ranges_.clear();
  for (const Range& range : ranges_) {
    if (!work.take()) break;
    end_until(range.start);
    open_.push_back(range);
    put(range.start);
  }
  end_until(UINT64_MAX);
  if (work.over()) pieces_.clear();
  ranges_ = {};
  open_ = {};
  pieces_.shrink_to_fit();
}

/// What is not innermost is looked at when it comes to light; it may have ended long before.
void RangeIndex::end_until(uint64_t address) {
  while (!open_.empty() && open_.back().end <= address) {
    const uint64_t end = open_.back().end;
    while (!open_.empty() && open_.back().end <= end) open_.pop_back();
    put(end);
  }
}

void RangeIndex::put(uint64_t start) {
  if (pieces_.empty() || pieces_.back().start != start) pieces_.push_back({start, std::nullopt});
  pieces_.back().value =
      open_.empty() ? std::nullopt : std::optional<uint32_t>(open_.back().value);
}

std::optional<uint32_t> RangeIndex::find(uint64_t address) const {
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                     [](uint64_t at, const Piece& p) { return at < p.start; });
  return next == pieces_.begin() ? std::nullopt : std::prev(next)->value;
}

}  // namespace tracewell::symbols
