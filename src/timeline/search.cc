// Cell by cell: when did this one hold the pattern's first bytes, at each of its eight offsets? If
// it ever did, when did the next cells hold the rest? What is common to these times is a hit.
#include "timeline/search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "timeline/memory/cell_history.h"

namespace tracewell::timeline {
namespace {

/// From `from` to the next one's.
struct Moment {
  uint64_t from = 0;
  CellContent content;
  ByteMask inferred = 0;
};
/// Steps before which something held; the end is excluded. What some of its bytes rest on.
struct Span {
  uint64_t begin = 0, end = 0;
  bool inferred = false, kept = false;
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
    Span both = {std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    both.inferred = a[i].inferred || b[j].inferred;
    both.kept = a[i].kept || b[j].kept;
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
                uint64_t last_step, Bytes pattern, const Work& work)
      : segments_(segments),
        openings_(segments),
        stretches_(stretches),
        end_(last_step + 1),
        pattern_(pattern),
        work_(work) {}

  /// False when `visit` did not want more, or nobody waits.
  bool run(const std::function<bool(const BytesHit&)>& visit);

 private:
  std::vector<uint64_t> cells() const;
  const std::vector<Moment>& history(uint64_t cell);
  /// A step that touches a cell, with all that is known in front of it and behind it.
  struct Touch {
    uint64_t step;
    CellContent before, after;
    ByteMask changed, left;
  };
  std::vector<Touch> read_touches(uint64_t cell);
  std::vector<Moment> read_history(uint64_t cell);
  bool fill_gap(uint64_t from, uint64_t next, CellContent told, ByteMask left,
                const CellContent& later, std::vector<Moment>& out);
  std::optional<Opening> opening_before(uint64_t moment);
  std::vector<Span> times(uint64_t cell, const CellPattern& wanted);
  std::vector<Span> joined(const std::vector<Span>& spans) const;
  /// The first and the last stretch that begin behind `from` and up to `to`.
  std::optional<std::pair<uint64_t, uint64_t>> borders(uint64_t from, uint64_t to) const;

  std::span<const Segment> segments_;
  Openings openings_;
  std::span<const uint64_t> stretches_;
  uint64_t end_;
  Bytes pattern_;
  const Work& work_;
  std::map<uint64_t, std::vector<Moment>> kept_;
  /// What opening_before() found last holds from `since_` to before `until_`.
  std::optional<Opening> opening_;
  uint64_t since_ = 0, until_ = 0;
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

/// The last one that is not behind a moment.
std::optional<Opening> SessionSearch::opening_before(uint64_t moment) {
  if (moment >= since_ && moment < until_) return opening_;
  const uint64_t begin = segments_.front().first;
  opening_ = openings_.last(moment, begin);
  const auto next = openings_.next(moment, end_);
  since_ = opening_ ? opening_->moment : begin;
  until_ = next ? next->moment : end_;
  return opening_;
}

/// Forwards: what held before and behind each step that touches the cell.
std::vector<SessionSearch::Touch> SessionSearch::read_touches(uint64_t cell) {
  std::vector<Touch> touches;
  CellContent content;
  const auto add = [&](const CellContent& news) {
    CellContent out = content;
    out.set(news.known, news.value);
    out.told = static_cast<ByteMask>((content.told & ~news.known) | news.told);
    out.lose(news.lost);
    return out;
  };
  for (const Segment& segment : segments_) {
    const auto stream = segment.table(Part::Cells).find(cell);
    if (!stream) continue;
    CellHistory::Walk walk = CellHistory(*stream).start();
    CellContent last;
    while (const auto next = walk.next()) {
      const uint64_t step = segment.first + *next;
      const auto opening = opening_before(step);
      const bool here = opening && opening->moment >= segment.first;
      if (here) walk.open(Opening{opening->moment - segment.first, opening->within});
      walk.read();
      // What earlier segments told in front of the opening is only kept.
      if (!touches.empty() && opening && opening->moment > touches.back().step) {
        const bool stays = opening->within && opening->moment == touches.back().step + 1;
        content.told = stays ? content.told & touches.back().left : 0;
      }
      if (!touches.empty() && borders(touches.back().step, step)) content = {};
      last = walk.state().after;
      touches.push_back({step, add(walk.state().before), add(last), walk.changed(),
                         walk.told_left()});
    }
    content = add(last);
  }
  return touches;
}

/// From `from`, behind a step that told something, to in front of `next`, which found `later`: that
/// holds back to the last opening or border. False: there is one. `out`: latest first.
bool SessionSearch::fill_gap(uint64_t from, uint64_t next, CellContent told, ByteMask left,
                             const CellContent& later, std::vector<Moment>& out) {
  const auto put = [&](uint64_t moment, CellContent held, const CellContent& found) {
    const auto inferred = static_cast<ByteMask>(found.known & ~held.told);
    held.set(inferred, found.value);
    held.told &= static_cast<ByteMask>(~inferred);
    out.push_back({moment, held, inferred});
  };
  auto last = opening_before(next);
  if (last && last->moment < from) last.reset();
  const auto border = from == 0 ? borders(0, next) : borders(from - 1, next);
  if (!last && !border) {
    put(from, told, later);
    return true;
  }
  // What the step itself left stays told behind its own system call.
  auto first = last ? openings_.next(from == 0 ? 0 : from - 1, next + 1) : std::nullopt;
  if (first && first->moment == from && first->within) {
    told.told &= left;
    first = openings_.next(from, next + 1);
  }
  const auto held_at = [&](uint64_t moment) {
    if (border && moment >= border->first) return CellContent();
    CellContent held = told;
    if (first && moment >= first->moment) held.told = 0;
    return held;
  };
  const uint64_t floor = std::max(last ? last->moment : 0, border ? border->second : 0);
  put(floor, held_at(floor), later);
  uint64_t points[] = {border ? border->first : floor, first ? first->moment : floor};
  std::ranges::sort(points, std::ranges::greater());
  for (const uint64_t point : points)
    if (point < floor) put(point, held_at(point), {});
  put(from, held_at(from), {});
  return false;
}

/// Backwards: what later steps found is put where nothing surer is known. Nothing reaches from a
/// stretch into another.
std::vector<Moment> SessionSearch::read_history(uint64_t cell) {
  const std::vector<Touch> touches = read_touches(cell);
  std::vector<Moment> out;
  CellContent later;
  uint64_t next = end_ - 1;
  for (size_t i = touches.size(); i-- > 0;) {
    const Touch& touch = touches[i];
    if (!fill_gap(touch.step + 1, next, touch.after, touch.left, later, out)) later = {};
    next = touch.step;
    later.lose(touch.changed);
    later.set(touch.before.told, touch.before.value);
    CellContent held = touch.before;
    const auto inferred = static_cast<ByteMask>(later.known & ~held.told);
    held.set(inferred, later.value);
    held.told &= static_cast<ByteMask>(~inferred);
    out.push_back({touch.step, held, inferred});
  }
  fill_gap(segments_.front().first, next, {}, 0, later, out);
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
    const CellContent& content = moments[i].content;
    const ByteMask inferred = wanted.bytes & moments[i].inferred;
    const auto kept = static_cast<ByteMask>(wanted.bytes & ~(content.told | inferred));
    out.push_back({begin, end, inferred != 0, kept != 0});
  }
  return out;
}

/// Those that follow each other in one stretch become one.
std::vector<Span> SessionSearch::joined(const std::vector<Span>& spans) const {
  std::vector<Span> out;
  for (const Span& span : spans) {
    const bool goes_on = !out.empty() && out.back().end == span.begin;
    if (!goes_on || std::ranges::binary_search(stretches_, span.begin)) {
      out.push_back(span);
      continue;
    }
    out.back().end = span.end;
    out.back().inferred |= span.inferred;
    out.back().kept |= span.kept;
  }
  return out;
}

bool SessionSearch::run(const std::function<bool(const BytesHit&)>& visit) {
  for (uint64_t cell : cells()) {
    if (work_.is_stopped()) return false;
    kept_.erase(kept_.begin(), kept_.lower_bound(cell));
    for (size_t offset = 0; offset < kCellBytes; ++offset) {
      std::vector<Span> spans = times(cell, part_of(pattern_, offset, 0));
      const size_t count = (offset + pattern_.size() + kCellBytes - 1) / kCellBytes;
      for (size_t i = 1; i < count && !spans.empty(); ++i) {
        if (cell + i > UINT64_MAX / kCellBytes) spans.clear();
        if (!spans.empty())
          spans = common(spans, times(cell + i, part_of(pattern_, offset, i)));
      }
      for (const Span& span : joined(spans))
        if (!visit({cell * kCellBytes + offset, span.begin, span.end - 1, span.inferred,
                    span.kept}))
          return false;
    }
  }
  return true;
}

/// What is told to `visit` cannot be taken back: so damage is to be come across before.
void read_through(const Index& index, const Work& work) {
  for (const Segment& segment : index.segments) {
    segment.table(Part::Cells).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      CellHistory::Walk walk = CellHistory(item.stream).start();
      while (walk.read()) {}
      return !work.is_stopped();
    });
    const StreamTable openings = segment.table(Part::Openings);
    for (const OpeningKey key : {OpeningKey::Within, OpeningKey::Between})
      if (const auto stream = openings.find(static_cast<uint64_t>(key)))
        Postings(*stream).look_over();
  }
}

}  // namespace

Status find_bytes(const Timeline& timeline, Bytes pattern,
                  const std::function<bool(const BytesHit&)>& visit, const Work& work) {
  const auto look = [&](const Index& index) { read_through(index, work); };
  const std::vector<Segment>& all = timeline.whole_index(look).segments;
  TW_RETURN_IF_ERROR(work.go_on());
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].session == all[i].session) ++end;
    // Behind the last step of all there is still memory; behind a session there is the next one.
    const uint64_t last = end == all.size() ? timeline.steps() : all[end].first - 1;
    const std::span segments(all.data() + i, end - i);
    SessionSearch search(segments, timeline.stretches(), last, pattern, work);
    if (!search.run(visit)) break;
    i = end;
  }
  return work.go_on();
}

}  // namespace tracewell::timeline
