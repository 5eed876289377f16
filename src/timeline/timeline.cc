#include "timeline/timeline.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/check.h"

namespace tracewell::timeline {
namespace {

/// A step of a segment, before which steps of it are meant: those before `step`, cut to its own.
uint64_t within(const Segment& segment, uint64_t step) {
  return step <= segment.first ? 0 : std::min(step - segment.first, segment.count);
}

/// The bytes of a range that lie in a cell.
ByteMask bytes_in(const AddressRange& range, uint64_t cell) {
  const uint64_t start = cell * kCellBytes;
  const unsigned first = range.first > start ? static_cast<unsigned>(range.first - start) : 0;
  const unsigned last =
      range.last - start < kCellBytes ? static_cast<unsigned>(range.last - start) : 7;
  return byte_mask(first, last - first + 1);
}

void keep_least(std::optional<uint32_t>& best, std::optional<uint32_t> one) {
  if (one && (!best || *one < *best)) best = one;
}
void keep_greatest(std::optional<uint32_t>& best, std::optional<uint32_t> one) {
  if (one && (!best || *one > *best)) best = one;
}

Postings change_list(const Segment& segment, uint32_t index, ChangedBy by, bool seams) {
  const StreamTable table = seams ? StreamTable(segment.seams) : segment.table(Part::Registers);
  const auto stream = table.find(register_key(index, by));
  return stream ? Postings(*stream) : Postings();
}

/// The last that does not begin behind it. There is one at least.
size_t segment_of(const Index& index, uint64_t step) {
  const auto after = std::upper_bound(
      index.segments.begin(), index.segments.end(), step,
      [](uint64_t at, const Segment& segment) { return at < segment.first; });
  return static_cast<size_t>(after - index.segments.begin()) - 1;
}

/// First what was told before, from here to the stretch's begin; then what is told later, up to its
/// end.
CellContent cell_content(const Index& index, std::pair<uint64_t, uint64_t> stretch, uint64_t at,
                         uint64_t cell, ByteMask wanted) {
  CellContent content;
  const size_t here = segment_of(index, at < index.steps() ? at : at - 1);
  const uint64_t session = index.segments[here].session;
  ByteMask open = wanted;
  for (size_t i = here + 1; open != 0 && i-- > 0;) {
    const Segment& segment = index.segments[i];
    if (segment.session != session || segment.end() <= stretch.first) break;
    const auto stream = segment.table(Part::Cells).find(cell);
    if (!stream) continue;
    const CellContent told = CellHistory(*stream).content_before(within(segment, at),
                                                                 within(segment, stretch.first));
    content.set(open & told.known, told.value);
    open &= static_cast<ByteMask>(~(told.known | told.lost));
  }
  ByteMask unknown = wanted & static_cast<ByteMask>(~content.known);
  for (size_t i = here; unknown != 0 && i < index.segments.size(); ++i) {
    const Segment& segment = index.segments[i];
    if (segment.session != session || segment.first >= stretch.second) break;
    const auto stream = segment.table(Part::Cells).find(cell);
    if (stream)
      unknown = CellHistory(*stream).fill_back(within(segment, at), within(segment, stretch.second),
                                               unknown, content);
  }
  return content;
}

/// Some of a stretch of steps, which come in any order, and more than once.
class StepSet {
 public:
  StepSet(uint64_t from, uint64_t end) : from_(from), bits_((end - from) / 64 + 1) {}
  /// `step` lies in the stretch.
  void add(uint64_t step) {
    bits_[(step - from_) / 64] |= uint64_t{1} << ((step - from_) % 64);
  }
  /// Those of a list from `at` to before `behind`, which are counted from `base`.
  void add(const Postings& list, uint64_t at, uint64_t behind, uint64_t base) {
    list.runs(at, [&](uint64_t first, uint64_t end) {
      for (uint64_t i = std::max(first, at); i < std::min(end, behind); ++i) add(base + i);
      return end < behind;
    });
  }
  std::vector<uint64_t> ascending() const {
    std::vector<uint64_t> out;
    for (size_t i = 0; i < bits_.size(); ++i)
      for (uint64_t left = bits_[i]; left != 0; left &= left - 1)
        out.push_back(from_ + i * 64 + static_cast<uint64_t>(std::countr_zero(left)));
    return out;
  }

 private:
  uint64_t from_;
  std::vector<uint64_t> bits_;
};

}  // namespace

template <class Find>
std::optional<uint64_t> Timeline::next(uint64_t from, Find&& find) const {
  if (from >= steps()) return std::nullopt;
  return keeper_->ask([&](const Index& index) -> std::optional<uint64_t> {
    for (size_t i = segment_of(index, from); i < index.segments.size(); ++i) {
      const Segment& segment = index.segments[i];
      const std::optional<uint32_t> found = find(segment, within(segment, from));
      if (found && *found < segment.count) return segment.first + *found;
    }
    return std::nullopt;
  });
}

template <class Find>
std::optional<uint64_t> Timeline::last(uint64_t before, Find&& find) const {
  if (before == 0 || steps() == 0) return std::nullopt;
  return keeper_->ask([&](const Index& index) -> std::optional<uint64_t> {
    for (size_t i = segment_of(index, before - 1) + 1; i-- > 0;) {
      const Segment& segment = index.segments[i];
      const std::optional<uint32_t> found = find(segment, within(segment, before));
      if (found && *found < segment.count) return segment.first + *found;
    }
    return std::nullopt;
  });
}

template <class Find>
std::vector<uint64_t> Timeline::all(uint64_t from, uint64_t end, Find&& find) const {
  end = std::min(end, steps());
  if (from >= end) return {};
  return keeper_->ask([&](const Index& index) {
    StepSet found(from, end);
    for (size_t i = segment_of(index, from); i < index.segments.size(); ++i) {
      const Segment& segment = index.segments[i];
      if (segment.first >= end) break;
      find(segment, within(segment, from), within(segment, end), found);
    }
    return found.ascending();
  });
}

std::optional<uint64_t> Timeline::next_execution(AddressRange pcs, uint64_t from) const {
  return next(from, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      if (const auto place = read_place(item.stream)) keep_least(best, place->steps.next(at));
      return true;
    });
    return best;
  });
}

std::optional<uint64_t> Timeline::last_execution(AddressRange pcs, uint64_t before) const {
  return last(before, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      if (const auto place = read_place(item.stream)) keep_greatest(best, place->steps.last(at));
      return true;
    });
    return best;
  });
}

std::optional<uint64_t> Timeline::next_access(AddressRange bytes, uint8_t kinds,
                                              uint64_t from) const {
  return next(from, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Cells)
        .each(bytes.first / kCellBytes, bytes.last / kCellBytes, [&](const StreamTable::Item& one) {
          keep_least(best, CellHistory(one.stream).next(at, bytes_in(bytes, one.key), kinds));
          return true;
        });
    return best;
  });
}

std::optional<uint64_t> Timeline::last_access(AddressRange bytes, uint8_t kinds,
                                              uint64_t before) const {
  return last(before, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Cells)
        .each(bytes.first / kCellBytes, bytes.last / kCellBytes, [&](const StreamTable::Item& one) {
          keep_greatest(best, CellHistory(one.stream).last(at, bytes_in(bytes, one.key), kinds));
          return true;
        });
    return best;
  });
}

std::vector<uint64_t> Timeline::executions(AddressRange pcs, uint64_t from, uint64_t end) const {
  return all(from, end, [&](const Segment& segment, uint64_t at, uint64_t behind, StepSet& found) {
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      if (const auto place = read_place(item.stream))
        found.add(place->steps, at, behind, segment.first);
      return true;
    });
  });
}

std::vector<uint64_t> Timeline::accesses(AddressRange bytes, uint8_t kinds, uint64_t from,
                                         uint64_t end) const {
  return all(from, end, [&](const Segment& segment, uint64_t at, uint64_t behind, StepSet& found) {
    segment.table(Part::Cells)
        .each(bytes.first / kCellBytes, bytes.last / kCellBytes, [&](const StreamTable::Item& one) {
          CellHistory(one.stream).each(at, behind, bytes_in(bytes, one.key), kinds,
                                       [&](uint32_t step) { found.add(segment.first + step); });
          return true;
        });
  });
}

std::optional<uint64_t> Timeline::next_change(uint32_t index, ChangedBy by, uint64_t from) const {
  return next(from, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best = change_list(segment, index, by, false).next(at);
    keep_least(best, change_list(segment, index, by, true).next(at));
    return best;
  });
}

std::optional<uint64_t> Timeline::last_change(uint32_t index, ChangedBy by,
                                              uint64_t before) const {
  return last(before, [&](const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best = change_list(segment, index, by, false).last(at);
    keep_greatest(best, change_list(segment, index, by, true).last(at));
    return best;
  });
}

std::vector<uint64_t> Timeline::changes(uint32_t index, uint64_t from, uint64_t end) const {
  return all(from, end, [&](const Segment& segment, uint64_t at, uint64_t behind, StepSet& found) {
    for (const ChangedBy by : {ChangedBy::Instruction, ChangedBy::Others})
      for (const bool seams : {false, true})
        found.add(change_list(segment, index, by, seams), at, behind, segment.first);
  });
}

void Timeline::memory(uint64_t at, uint64_t address, std::span<uint8_t> bytes,
                      std::span<uint8_t> known) const {
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  std::fill(known.begin(), known.end(), uint8_t{0});
  if (steps() == 0 || at > steps()) return;
  const auto stretch = stretch_of(std::min(at, steps() - 1));
  for (size_t done = 0; done < bytes.size();) {
    const uint64_t start = address + done;
    const auto first = static_cast<unsigned>(start % kCellBytes);
    const auto size = static_cast<unsigned>(std::min<uint64_t>(kCellBytes - first,
                                                               bytes.size() - done));
    const CellContent content = keeper_->ask([&](const Index& index) {
      return cell_content(index, stretch, at, start / kCellBytes, byte_mask(first, size));
    });
    for (unsigned i = 0; i < size; ++i) {
      known[done + i] = (content.known >> (first + i)) & 1;
      bytes[done + i] = static_cast<uint8_t>(content.value >> (8 * (first + i)));
    }
    done += size;
    if (start + size < start) return;  // behind the last address of all
  }
}

std::pair<uint64_t, uint64_t> Timeline::stretch_of(uint64_t step) const {
  TW_CHECK(step < steps());
  const auto behind = std::ranges::upper_bound(stretches_, step);
  return {behind == stretches_.begin() ? 0 : behind[-1],
          behind == stretches_.end() ? steps() : std::min(*behind, steps())};
}

std::pair<uint64_t, uint64_t> Timeline::session_of(uint64_t step) const {
  TW_CHECK(step < steps());
  const std::vector<Segment>& all = keeper_->now().segments;
  size_t first = segment_of(keeper_->now(), step), last = first;
  while (first > 0 && all[first - 1].session == all[last].session) --first;
  while (last + 1 < all.size() && all[last + 1].session == all[first].session) ++last;
  return {all[first].first, all[last].end()};
}

uint64_t Timeline::thread_of(uint64_t step) const {
  if (step >= steps()) return 0;
  return keeper_->ask([&](const Index& index) {
    const Segment& segment = index.segments[segment_of(index, step)];
    uint64_t tid = 0;
    segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      const auto thread = read_thread(item.stream);
      const bool found =
          thread && thread->steps.contains(static_cast<uint32_t>(step - segment.first));
      if (found) tid = item.key;
      return !found;
    });
    return tid;
  });
}

std::optional<uint64_t> Timeline::next_step_of(uint64_t tid, uint64_t from) const {
  return next(from, [&](const Segment& segment, uint64_t at) -> std::optional<uint32_t> {
    const auto stream = segment.table(Part::Threads).find(tid);
    const auto thread = stream ? read_thread(*stream) : std::nullopt;
    return thread ? thread->steps.next(at) : std::nullopt;
  });
}

std::optional<uint64_t> Timeline::last_step_of(uint64_t tid, uint64_t before) const {
  return last(before, [&](const Segment& segment, uint64_t at) -> std::optional<uint32_t> {
    const auto stream = segment.table(Part::Threads).find(tid);
    const auto thread = stream ? read_thread(*stream) : std::nullopt;
    return thread ? thread->steps.last(at) : std::nullopt;
  });
}

std::vector<uint64_t> Timeline::threads() const {
  const auto all = keeper_->ask([](const Index& index) {
    std::set<uint64_t> out;
    for (const Segment& segment : index.segments)
      segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
        out.insert(item.key);
        return true;
      });
    return out;
  });
  return {all.begin(), all.end()};
}

}  // namespace tracewell::timeline
