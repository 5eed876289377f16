// Cell by cell: when did this one hold the pattern's first bytes, at each of its eight offsets? If
// it ever did, when did the next cells hold the rest? What is common to these times is a hit.
#include "timeline/search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "timeline/cell_history.h"

namespace tracewell::timeline {
namespace {

/// From `from` to the next one's.
struct Moment {
  uint64_t from = 0;
  CellContent content;
};
/// Steps before which something held; the end is excluded.
struct Span {
  uint64_t begin = 0, end = 0;
};

/// A part of the pattern as it would stand in a cell.
struct CellPattern {
  ByteMask bytes = 0;
  uint64_t value = 0;

  bool matches(const CellContent& content) const {
    return (content.known & bytes) == bytes && ((content.value ^ value) & wide_mask(bytes)) == 0;
  }
};

CellPattern part_of(Bytes pattern, size_t offset, size_t cell) {
  CellPattern out;
  for (size_t i = 0; i < kCellBytes; ++i) {
    const size_t at = cell * kCellBytes + i;
    if (at < offset || at - offset >= pattern.size()) continue;
    out.bytes |= static_cast<ByteMask>(1u << i);
    out.value |= uint64_t{pattern[at - offset]} << (8 * i);
  }
  return out;
}

std::vector<Span> common(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::vector<Span> out;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span both = {std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.begin < both.end) out.push_back(both);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return out;
}

/// The segments of one session.
class SessionSearch {
 public:
  /// `stretches`: as the timeline's.
  SessionSearch(std::span<const Segment> segments, std::span<const uint64_t> stretches,
                uint64_t last_step, Bytes pattern)
      : segments_(segments), stretches_(stretches), end_(last_step + 1), pattern_(pattern) {}

  /// False when `visit` did not want more.
  bool run(const std::function<bool(const BytesHit&)>& visit);

 private:
  std::vector<uint64_t> cells() const;
  const std::vector<Moment>& history(uint64_t cell);
  std::vector<Moment> read_history(uint64_t cell) const;
  std::vector<Span> times(uint64_t cell, const CellPattern& wanted);
  /// The first and the last stretch that begin behind `from` and up to `to`.
  std::optional<std::pair<uint64_t, uint64_t>> borders(uint64_t from, uint64_t to) const;

  std::span<const Segment> segments_;
  std::span<const uint64_t> stretches_;
  uint64_t end_;
  Bytes pattern_;
  std::map<uint64_t, std::vector<Moment>> kept_;
};

std::vector<uint64_t> SessionSearch::cells() const {
  std::vector<uint64_t> out;
  for (const Segment& segment : segments_) {
    const auto middle = static_cast<std::ptrdiff_t>(out.size());
    segment.table(Part::Cells).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      out.push_back(item.key);
      return true;
    });
    std::inplace_merge(out.begin(), out.begin() + middle, out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
  return out;
}

std::optional<std::pair<uint64_t, uint64_t>> SessionSearch::borders(uint64_t from,
                                                                    uint64_t to) const {
  const auto first = std::ranges::upper_bound(stretches_, from);
  const auto behind = std::ranges::upper_bound(stretches_, to);
  if (first >= behind) return std::nullopt;
  return std::pair(*first, behind[-1]);
}

/// Forwards: what held before and behind each step that touches it. Then backwards: what later
/// steps found is put where nothing was known. Nothing reaches from a stretch into another.
std::vector<Moment> SessionSearch::read_history(uint64_t cell) const {
  struct Touch {
    uint64_t step;
    CellContent before, after;
    ByteMask changed;
  };
  std::vector<Touch> touches;
  CellContent content;
  const auto add = [&](const CellContent& news) {
    CellContent out = content;
    out.set(news.known, news.value);
    out.lose(news.lost);
    return out;
  };
  for (const Segment& segment : segments_) {
    const auto stream = segment.table(Part::Cells).find(cell);
    if (!stream) continue;
    CellHistory::Walk walk = CellHistory(*stream).start();
    CellContent last;
    while (walk.read()) {
      const uint64_t step = segment.first + walk.step();
      if (!touches.empty() && borders(touches.back().step, step)) content = {};
      last = walk.state().after;
      touches.push_back({step, add(walk.state().before), add(last),
                         walk.changed()});
    }
    content = add(last);
  }
  std::vector<Moment> out;
  CellContent later;
  const auto put = [&](uint64_t from, CellContent held) {
    held.set(later.known & static_cast<ByteMask>(~held.known), later.value);
    out.push_back({from, held});
  };
  uint64_t next = end_ - 1;
  for (size_t i = touches.size(); i-- > 0;) {
    const Touch& touch = touches[i];
    if (const auto between = borders(touch.step, next)) {
      if (i + 1 != touches.size()) put(between->second, {});
      later = {};
      put(between->first, {});
    }
    next = touch.step;
    put(touch.step + 1, touch.after);
    CellContent found = later;
    found.lose(touch.changed);
    found.set(touch.before.known, touch.before.value);
    later = found;
    put(touch.step, touch.before);
  }
  const uint64_t begin = segments_.front().first;
  if (const auto between = borders(begin, next)) {
    put(between->second, {});
    later = {};
  }
  put(begin, {});
  std::reverse(out.begin(), out.end());
  return out;
}

const std::vector<Moment>& SessionSearch::history(uint64_t cell) {
  const auto [kept, is_new] = kept_.try_emplace(cell);
  if (is_new) kept->second = read_history(cell);
  return kept->second;
}

std::vector<Span> SessionSearch::times(uint64_t cell, const CellPattern& wanted) {
  std::vector<Span> out;
  const std::vector<Moment>& moments = history(cell);
  for (size_t i = 0; i < moments.size(); ++i) {
    const uint64_t begin = moments[i].from;
    const uint64_t end = i + 1 < moments.size() ? moments[i + 1].from : end_;
    if (begin >= end || !wanted.matches(moments[i].content)) continue;
    const bool goes_on = !out.empty() && out.back().end == begin;
    if (goes_on && !std::ranges::binary_search(stretches_, begin))
      out.back().end = end;
    else
      out.push_back({begin, end});
  }
  return out;
}

bool SessionSearch::run(const std::function<bool(const BytesHit&)>& visit) {
  for (uint64_t cell : cells()) {
    kept_.erase(kept_.begin(), kept_.lower_bound(cell));
    for (size_t offset = 0; offset < kCellBytes; ++offset) {
      std::vector<Span> spans = times(cell, part_of(pattern_, offset, 0));
      const size_t count = (offset + pattern_.size() + kCellBytes - 1) / kCellBytes;
      for (size_t i = 1; i < count && !spans.empty(); ++i) {
        if (cell + i > UINT64_MAX / kCellBytes) spans.clear();
        if (!spans.empty())
          spans = common(spans, times(cell + i, part_of(pattern_, offset, i)));
      }
      for (const Span& span : spans)
        if (!visit({cell * kCellBytes + offset, span.begin, span.end - 1})) return false;
    }
  }
  return true;
}

}  // namespace

void find_bytes(const Timeline& timeline, Bytes pattern,
                const std::function<bool(const BytesHit&)>& visit) {
  const std::vector<Segment>& all = timeline.whole_index().segments;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].session == all[i].session) ++end;
    // Behind the last step of all there is still memory; behind a session there is the next one.
    const uint64_t last = end == all.size() ? timeline.steps() : all[end].first - 1;
    if (!SessionSearch(std::span(all).subspan(i, end - i), timeline.stretches(), last, pattern)
             .run(visit))
      return;
    i = end;
  }
}

}  // namespace tracewell::timeline
