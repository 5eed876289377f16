#include "timeline/memory/openings.h"

#include <algorithm>

namespace tracewell::timeline {

SegmentOpenings::SegmentOpenings(const Segment& segment) : opened_(segment.opened) {
  const StreamTable table = segment.table(Part::Openings);
  if (table.count() == 0) return;
  if (const auto within = table.find(static_cast<uint64_t>(OpeningKey::Within))) {
    within_ = Postings(*within);
    has_within_ = true;
  }
  if (const auto between = table.find(static_cast<uint64_t>(OpeningKey::Between))) {
    between_ = Postings(*between);
    has_between_ = true;
  }
}

std::optional<Opening> SegmentOpenings::last(uint64_t at) const {
  std::optional<Opening> out;
  if (opened_) out = Opening{0, false};
  if (has_between_)
    if (const auto step = between_.last(at + 1)) out = Opening{*step, false};
  if (has_within_)
    if (const auto step = within_.last(at); step && (!out || out->moment <= *step))
      out = Opening{uint64_t{*step} + 1, true};
  return out;
}

std::optional<Opening> SegmentOpenings::next(uint64_t at) const {
  std::optional<Opening> out;
  if (has_within_)
    if (const auto step = within_.next(at)) out = Opening{uint64_t{*step} + 1, true};
  if (has_between_)
    if (const auto step = between_.next(at + 1); step && (!out || *step <= out->moment))
      out = Opening{*step, false};
  return out;
}

size_t Openings::segment_of(uint64_t at) const {
  const auto after = std::ranges::upper_bound(segments_, at, {}, &Segment::first);
  return static_cast<size_t>(after - segments_.begin()) - (after == segments_.begin() ? 0 : 1);
}

std::optional<Opening> Openings::last(uint64_t at, uint64_t since) const {
  if (segments_.empty()) return std::nullopt;
  for (size_t i = segment_of(at) + 1; i-- > 0;) {
    const Segment& segment = segments_[i];
    if (segment.end() < since) break;
    const uint64_t within = at < segment.first ? 0 : std::min(at - segment.first, segment.count);
    const auto found = SegmentOpenings(segment).last(within);
    if (found) return Opening{segment.first + found->moment, found->within};
  }
  return std::nullopt;
}

std::optional<Opening> Openings::next(uint64_t at, uint64_t until) const {
  if (segments_.empty()) return std::nullopt;
  for (size_t i = segment_of(at); i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.first >= until) break;
    if (i != 0 && segment.opened && segment.first > at) return Opening{segment.first, false};
    const auto found = SegmentOpenings(segment).next(at < segment.first ? 0 : at - segment.first);
    if (!found) continue;
    // Behind its last step there may be one that takes two segments to see.
    const bool last = found->moment == segment.count && i + 1 < segments_.size();
    return Opening{segment.first + found->moment,
                   found->within && !(last && segments_[i + 1].opened)};
  }
  return std::nullopt;
}

}  // namespace tracewell::timeline
