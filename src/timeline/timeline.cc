#include "timeline/timeline.h"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "timeline/memory/cell_content.h"
#include "timeline/memory/large_accesses.h"

namespace tracewell::timeline {
namespace {

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

/// Some of a stretch of steps, which come in any order, and more than once.
class StepSet {
 public:
  StepSet(uint64_t from, uint64_t end) : from_(from), bits_((end - from) / 64 + 1) {}
  /// `step` lies in the stretch.
  void add(uint64_t step) {
    bits_[(step - from_) / 64] |= uint64_t{1} << ((step - from_) % 64);
  }
  /// Those of a list from `at` to before `behind`, which are counted from `base`; they are taken
  /// off `most`. False: there are more, and some are missing.
  bool add(const Postings& list, uint64_t at, uint64_t behind, uint64_t base, uint64_t& most) {
    bool all = true;
    list.runs(at, [&](uint64_t begin, uint64_t end) {
      const uint64_t from = std::max(begin, at), to = std::max(from, std::min(end, behind));
      all = to - from <= most;
      if (!all) return false;
      most -= to - from;
      for (uint64_t i = from; i < to; ++i) add(base + i);
      return end < behind;
    });
    return all;
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
std::optional<uint64_t> Timeline::next(uint64_t from, Find&& find, uint64_t end) const {
  end = std::min(end, steps());
  if (from >= end) return std::nullopt;
  return keeper_->ask([&](const Index& index) -> std::optional<uint64_t> {
    for (size_t i = segment_of(index, from); i < index.segments.size(); ++i) {
      const Segment& segment = index.segments[i];
      if (segment.first >= end) break;
      const std::optional<uint32_t> found = find(index, segment, within(segment, from));
      if (found && *found < within(segment, end)) return segment.first + *found;
    }
    return std::nullopt;
  });
}

template <class Find>
std::optional<uint64_t> Timeline::last(uint64_t before, Find&& find, uint64_t from) const {
  before = std::min(before, steps());
  if (from >= before) return std::nullopt;
  return keeper_->ask([&](const Index& index) -> std::optional<uint64_t> {
    for (size_t i = segment_of(index, before - 1) + 1; i-- > 0;) {
      const Segment& segment = index.segments[i];
      if (segment.end() <= from) break;
      const std::optional<uint32_t> found = find(index, segment, within(segment, before));
      if (found && *found < segment.count && *found >= within(segment, from))
        return segment.first + *found;
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
      find(index, segment, within(segment, from), within(segment, end), found);
    }
    return found.ascending();
  });
}

std::optional<uint64_t> Timeline::next_execution(AddressRange pcs, uint64_t from) const {
  return next(from, [&](const Index&, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      if (const auto place = read_place(item.stream)) keep_least(best, place->steps.next(at));
      return true;
    });
    return best;
  });
}

std::optional<uint64_t> Timeline::last_execution(AddressRange pcs, uint64_t before) const {
  return last(before, [&](const Index&, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      if (const auto place = read_place(item.stream)) keep_greatest(best, place->steps.last(at));
      return true;
    });
    return best;
  });
}

std::vector<uint64_t> Timeline::executed(AddressRange pcs) const {
  const auto all = keeper_->ask([&](const Index& index) {
    std::set<uint64_t> out;
    for (const Segment& segment : index.segments)
      segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
        out.insert(item.key);
        return true;
      });
    return out;
  });
  return {all.begin(), all.end()};
}

static_assert(uint8_t{kOthers} == CellAccess::kFoundChanged);

/// `visit(cell's history, its bytes)` for the cells of a range that a segment tells of, and
/// `other(step)` for accesses that no history has, and for changes that it takes earlier segments
/// to see.
template <class Visit, class Other>
void Timeline::each_cell(const Index& index, const Segment& segment, const AddressRange& range,
                         uint8_t kinds, Visit&& visit, Other&& other) const {
  const auto number = static_cast<size_t>(&segment - index.segments.data());
  const bool seams = (kinds & kOthers) != 0 && number != 0;
  const auto stretch = seams ? stretch_of(segment.first) : Stretch();
  segment.table(Part::Cells)
      .each(range.first / kCellBytes, range.last / kCellBytes, [&](const StreamTable::Item& one) {
        const ByteMask bytes = bytes_in(range, one.key);
        visit(CellHistory(one.stream), bytes);
        if (seams) each_seam_change(index, number, stretch, one.key, bytes, other);
        return true;
      });
  each_large_access(segment, range.first, range.last, kinds, other);
}

std::optional<uint64_t> Timeline::next_access(AddressRange bytes, uint8_t kinds, uint64_t from,
                                              uint64_t end) const {
  return next(from, [&](const Index& index, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    each_cell(
        index, segment, bytes, kinds,
        [&](const CellHistory& cell, ByteMask part) {
          keep_least(best, cell.next(at, part, kinds, within(segment, end)));
        },
        [&](uint32_t step) { if (step >= at) keep_least(best, step); });
    return best;
  }, end);
}

bool Timeline::accesses_at(AddressRange bytes, uint8_t kinds, uint64_t step) const {
  return next(step, [&](const Index&, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> found;
    segment.table(Part::Cells).each(
        bytes.first / kCellBytes, bytes.last / kCellBytes, [&](const StreamTable::Item& one) {
          found = CellHistory(one.stream).next(at, bytes_in(bytes, one.key), kinds, at + 1);
          return !found;
        });
    return found;
  }, step + 1).has_value();
}

std::optional<uint64_t> Timeline::last_access(AddressRange bytes, uint8_t kinds,
                                              uint64_t before) const {
  return last(before, [&](const Index& index, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best;
    each_cell(
        index, segment, bytes, kinds,
        [&](const CellHistory& cell, ByteMask part) {
          keep_greatest(best, cell.last(at, part, kinds));
        },
        [&](uint32_t step) { if (step < at) keep_greatest(best, step); });
    return best;
  });
}

std::vector<uint64_t> Timeline::executions(AddressRange pcs, uint64_t from, uint64_t end) const {
  return all(from, end, [&](const Index& index, const Segment& segment, uint64_t at,
                            uint64_t behind, StepSet& found) {
    uint64_t most = behind - at;  // each step executes one instruction
    segment.table(Part::Executions).each(pcs.first, pcs.last, [&](const StreamTable::Item& item) {
      const auto place = read_place(item.stream);
      if (!place || found.add(place->steps, at, behind, segment.first, most)) return true;
      index.damaged->store(true, std::memory_order_relaxed);
      return false;
    });
  });
}

std::vector<uint64_t> Timeline::accesses(AddressRange bytes, uint8_t kinds, uint64_t from,
                                         uint64_t end) const {
  return all(from, end, [&](const Index& index, const Segment& segment, uint64_t at,
                            uint64_t behind, StepSet& found) {
    each_cell(
        index, segment, bytes, kinds,
        [&](const CellHistory& cell, ByteMask part) {
          cell.each(at, behind, part, kinds,
                    [&](uint32_t step) { found.add(segment.first + step); });
        },
        [&](uint32_t step) { if (step >= at && step < behind) found.add(segment.first + step); });
  });
}

std::optional<uint64_t> Timeline::next_change(uint32_t index, ChangedBy by, uint64_t from,
                                              uint64_t end) const {
  return next(from, [&](const Index&, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best = change_list(segment, index, by, false).next(at);
    keep_least(best, change_list(segment, index, by, true).next(at));
    return best;
  }, end);
}

std::optional<uint64_t> Timeline::last_change(uint32_t index, ChangedBy by,
                                              uint64_t before) const {
  return last(before, [&](const Index&, const Segment& segment, uint64_t at) {
    std::optional<uint32_t> best = change_list(segment, index, by, false).last(at);
    keep_greatest(best, change_list(segment, index, by, true).last(at));
    return best;
  });
}

std::vector<uint64_t> Timeline::changes(uint32_t index, uint64_t from, uint64_t end) const {
  return all(from, end, [&](const Index&, const Segment& segment, uint64_t at, uint64_t behind,
                            StepSet& found) {
    for (const ChangedBy by : {ChangedBy::Instruction, ChangedBy::Others})
      for (const bool seams : {false, true}) {
        uint64_t most = behind - at;
        found.add(change_list(segment, index, by, seams), at, behind, segment.first, most);
      }
  });
}

void Timeline::memory(uint64_t at, uint64_t address, std::span<uint8_t> bytes,
                      std::span<ByteState> states) const {
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  std::fill(states.begin(), states.end(), ByteState::Unknown);
  if (steps() == 0 || at > steps()) return;
  const auto stretch = stretch_of(at);
  for (size_t done = 0; done < bytes.size();) {
    const uint64_t start = address + done;
    const auto first = static_cast<unsigned>(start % kCellBytes);
    const auto size = static_cast<unsigned>(std::min<uint64_t>(kCellBytes - first,
                                                               bytes.size() - done));
    const CellBytes content = keeper_->ask([&](const Index& index) {
      return cell_bytes(index, stretch, at, start / kCellBytes, byte_mask(first, size));
    });
    for (unsigned i = 0; i < size; ++i) {
      const auto is_in = [&](ByteMask mask) { return (mask >> (first + i) & 1) != 0; };
      states[done + i] = is_in(content.told)       ? ByteState::Told
                         : is_in(content.inferred) ? ByteState::Inferred
                         : is_in(content.kept)     ? ByteState::Kept
                                                   : ByteState::Unknown;
      bytes[done + i] = static_cast<uint8_t>(content.value >> (8 * (first + i)));
    }
    done += size;
    if (start + size < start) return;  // behind the last address of all
  }
}

bool Timeline::sealed(uint64_t from, uint64_t to) const {
  if (std::ranges::upper_bound(stretches_, from) != std::ranges::upper_bound(stretches_, to))
    return false;
  return keeper_->ask([&](const Index& index) {
    const auto next = Openings(index.segments).next(from, to + 1);
    return !next || next->moment > to;
  });
}

std::vector<ChangeByOthers> Timeline::changes_by_others(uint64_t step, AddressRange bytes) const {
  std::vector<ChangeByOthers> out;
  if (step >= steps()) return out;
  const auto stretch = stretch_of(step);
  for (uint64_t cell = bytes.first / kCellBytes; cell <= bytes.last / kCellBytes; ++cell) {
    const ByteMask part = bytes_in(bytes, cell);
    const CellChange change = keeper_->ask([&](const Index& index) {
      return cell_change(index, stretch, step, cell, part);
    });
    for (unsigned i = 0; i < kCellBytes; ++i) {
      if ((change.bytes >> i & 1) == 0) continue;
      const uint64_t address = cell * kCellBytes + i;
      const ChangeTime time = keeper_->ask([&](const Index& index) {
        return change_time(index, stretch, step, cell, byte_mask(i, 1));
      });
      const bool goes_on = !out.empty() && out.back().since == time.since &&
                           out.back().until == time.until &&
                           out.back().address + out.back().old_bytes.size() == address;
      if (!goes_on) out.push_back({address, {}, {}, time.since, time.until});
      out.back().old_bytes.push_back(static_cast<uint8_t>(change.old_value >> (8 * i)));
      out.back().new_bytes.push_back(static_cast<uint8_t>(change.new_value >> (8 * i)));
    }
    if (cell == UINT64_MAX / kCellBytes) break;
  }
  return out;
}

std::pair<uint64_t, uint64_t> Timeline::stretch_of(uint64_t step) const {
  TW_CHECK(step <= steps());
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

std::optional<uint64_t> Timeline::next_step_of(uint64_t tid, uint64_t from,
                                               uint64_t end) const {
  return next(from, [&](const Index&, const Segment& segment,
                        uint64_t at) -> std::optional<uint32_t> {
    const auto stream = segment.table(Part::Threads).find(tid);
    const auto thread = stream ? read_thread(*stream) : std::nullopt;
    return thread ? thread->steps.next(at) : std::nullopt;
  }, end);
}

std::optional<uint64_t> Timeline::last_step_of(uint64_t tid, uint64_t before,
                                               uint64_t from) const {
  return last(before, [&](const Index&, const Segment& segment,
                          uint64_t at) -> std::optional<uint32_t> {
    const auto stream = segment.table(Part::Threads).find(tid);
    const auto thread = stream ? read_thread(*stream) : std::nullopt;
    return thread ? thread->steps.last(at) : std::nullopt;
  }, from);
}

uint64_t Timeline::thread_runs(uint64_t most) const {
  return keeper_->ask([&](const Index& index) {
    uint64_t count = 0;
    for (const Segment& segment : index.segments)
      segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
        if (const auto thread = read_thread(item.stream))
          thread->steps.runs(0, [&](uint64_t, uint64_t) { return ++count <= most; });
        return count <= most;
      });
    return count;
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

std::vector<uint64_t> Timeline::threads_as_they_came() const {
  return keeper_->ask([](const Index& index) {
    std::unordered_set<uint64_t> seen;
    std::vector<uint64_t> out;
    for (const Segment& segment : index.segments) {
      std::vector<std::pair<uint32_t, uint64_t>> fresh;
      segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
        if (!seen.insert(item.key).second) return true;
        const auto thread = read_thread(item.stream);
        const auto first = thread ? thread->steps.next(0) : std::nullopt;
        fresh.emplace_back(first.value_or(UINT32_MAX), item.key);
        return true;
      });
      std::ranges::sort(fresh);
      for (const auto& [first, thread] : fresh) out.push_back(thread);
    }
    return out;
  });
}

}  // namespace tracewell::timeline
