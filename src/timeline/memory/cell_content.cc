#include "timeline/memory/cell_content.h"

#include <algorithm>

namespace tracewell::timeline {
namespace {

/// As a segment counts. One in front of it has no bearing on what it tells.
std::optional<Opening> seen_from(const Segment& segment, const std::optional<Opening>& opening) {
  if (!opening || opening->moment < segment.first) return std::nullopt;
  return Opening{opening->moment - segment.first, opening->within};
}

/// From `at` back to where the stretch begins. `own`: what step `at` finds is told, too.
CellContent told_until(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                       ByteMask wanted, const std::optional<Opening>& opening, bool own) {
  CellContent out;
  const size_t here = segment_of(index, at < index.steps() ? at : at - 1);
  const uint64_t session = index.segments[here].session;
  ByteMask open = wanted;
  for (size_t i = here + 1; open != 0 && i-- > 0;) {
    const Segment& segment = index.segments[i];
    if (segment.session != session || segment.end() <= stretch.first) break;
    const auto stream = segment.table(Part::Cells).find(cell);
    if (!stream) continue;
    // A step behind the segment's last one finds nothing in it.
    const CellContent told = CellHistory(*stream).content_before(
        within(segment, at), within(segment, stretch.first), seen_from(segment, opening),
        own && at < segment.end());
    const auto known = static_cast<ByteMask>(open & told.known);
    out.set(known, told.value);
    out.told &= static_cast<ByteMask>(~(known & ~told.told));
    open &= static_cast<ByteMask>(~(told.known | told.lost));
  }
  return out;
}

}  // namespace

size_t segment_of(const Index& index, uint64_t step) {
  const auto after = std::ranges::upper_bound(index.segments, step, {}, &Segment::first);
  return static_cast<size_t>(after - index.segments.begin()) - 1;
}

/// First what was told before, from here to the stretch's begin; then what is found later, up to
/// the next opening. What is found later is surer than what was so in front of the last opening.
CellBytes cell_bytes(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                     ByteMask wanted) {
  const Openings openings(index.segments);
  const auto opening = openings.last(at, stretch.first);
  const CellContent told = told_until(index, stretch, at, cell, wanted, opening, true);
  CellContent found;
  ByteMask open = wanted & static_cast<ByteMask>(~told.told);
  if (open != 0) {
    const auto next = openings.next(at, stretch.second);
    const uint64_t until = next ? std::min(stretch.second, next->moment) : stretch.second;
    const size_t here = segment_of(index, at < index.steps() ? at : at - 1);
    const uint64_t session = index.segments[here].session;
    for (size_t i = here; open != 0 && i < index.segments.size(); ++i) {
      const Segment& segment = index.segments[i];
      if (segment.session != session || segment.first >= until) break;
      const auto stream = segment.table(Part::Cells).find(cell);
      if (stream)
        open = CellHistory(*stream).fill_back(within(segment, at), within(segment, until),
                                              seen_from(segment, opening), open, found);
    }
  }
  CellBytes out;
  out.told = told.told;
  out.inferred = found.known;
  out.kept = static_cast<ByteMask>(told.known & ~(told.told | found.known));
  out.value = (told.value & wide_mask(out.told | out.kept)) | found.value;
  return out;
}

CellContent cell_left(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                      ByteMask wanted, const std::optional<Opening>& opening) {
  return told_until(index, stretch, at, cell, wanted, opening, false);
}

CellChange cell_change(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                       ByteMask wanted) {
  const CellContent was = told_until(index, stretch, at, cell, wanted, std::nullopt, false);
  if (was.known == 0) return {};
  const CellContent is = told_until(index, stretch, at, cell, wanted, std::nullopt, true);
  return {differing(was, is), was.value, is.value};
}

ChangeTime change_time(const Index& index, const Stretch& stretch, uint64_t at, uint64_t cell,
                       ByteMask byte) {
  const Openings openings(index.segments);
  const auto last = openings.last(at, stretch.first);
  const CellContent left = cell_left(index, stretch, at, cell, byte, last);
  const ChangeTime here = {at - 1, at};  // nothing that was seen lets anybody in
  if (left.told != 0 || !last) return here;
  for (size_t i = segment_of(index, at) + 1; i-- > 0;) {
    const Segment& segment = index.segments[i];
    if (segment.end() <= stretch.first) break;
    const auto stream = segment.table(Part::Cells).find(cell);
    const auto told = stream ? CellHistory(*stream).last_told(within(segment, at), byte)
                             : std::nullopt;
    if (!told) continue;
    const uint64_t step = segment.first + told->step;
    auto first = openings.next(step, at + 1);
    if (first && told->left && first->within && first->moment == step + 1)
      first = openings.next(step + 1, at + 1);
    if (first && first->moment <= at) return {first->moment - 1, last->moment};
    break;
  }
  return here;
}

void each_seam_change(const Index& index, size_t number, const Stretch& stretch, uint64_t cell,
                      ByteMask bytes, const std::function<void(uint32_t)>& visit) {
  const Segment& segment = index.segments[number];
  if (number == 0 || index.segments[number - 1].session != segment.session ||
      stretch.first >= segment.first)
    return;
  const CellContent was = told_until(index, stretch, segment.first, cell, bytes, std::nullopt,
                                     false);
  const auto stream = was.known == 0 ? std::nullopt : segment.table(Part::Cells).find(cell);
  if (!stream) return;
  const CellHistory::Found found =
      CellHistory(*stream).first_found(was.known, within(segment, stretch.second));
  const ByteMask changed = differing(was, found.content);
  for (unsigned i = 0; i < kCellBytes; ++i)
    if ((changed >> i & 1) != 0) visit(found.steps[i]);
}

}  // namespace tracewell::timeline
