#include "timeline/memory/cell_history.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "timeline/streams/skips.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kCellSkipBytes = 21, kSkipKinds = 20;
constexpr uint8_t kAllKinds = CellAccess::kBoth | CellAccess::kFoundChanged;
constexpr uint8_t kHolds = 15;  // instead of a size
constexpr uint8_t kKindBits = 3, kOldBit = 4, kNewBit = 8, kLostBit = 16, kForgetsBit = 128;
constexpr uint8_t kHasSkips = 128;
constexpr unsigned kRangeShift = 5;
constexpr uint8_t kRangeBits = 3, kRangeTold = 3;

struct Range {
  uint8_t start, size;
};
constexpr Range kRanges[] = {{0, 8}, {0, 4}, {4, 4}};

bool differs(const CellContent& content, ByteMask bytes, uint64_t value) {
  return (bytes & ~content.known) != 0 || ((content.value ^ value) & wide_mask(bytes)) != 0;
}

/// An entry in the making.
struct Encoder {
  uint8_t bytes[kVarintMax + 3 + 2 * kCellBytes];
  size_t size = 0;

  void put(uint64_t value, size_t count) {
    store_uint(bytes + size, value, count, Endian::Little);
    size += count;
  }
};

/// The bytes of an access alone, moved to the start.
uint64_t moved(uint64_t value, const CellAccess& access) {
  return (value & wide_mask(access.bytes())) >> (8 * access.start);
}

/// Zeros at the end of contents are left out.
size_t packed_size(uint64_t value) { return (static_cast<size_t>(std::bit_width(value)) + 7) / 8; }

}  // namespace

void CellLog::add(ByteChains& chains, const CellAccess& access, uint32_t loss,
                  const std::optional<Opening>& opening) {
  const bool forgets = !empty() && last_step_ < loss;
  if (forgets) state_ = {};
  state_.open(opening);
  CellAccess news = access;
  const ByteMask fresh = state_.fresh(access);
  const CellContent& before = access.step == state_.step() ? state_.before : state_.after;
  if (news.old_value && !differs(before, fresh, *news.old_value) &&
      !differs(state_.after, fresh, *news.old_value)) {
    news.old_value.reset();
    news.old_holds = (fresh & ~(before.told & state_.after.told)) != 0;
  }
  news.new_value.reset();
  const bool lost = (access.kind & CellAccess::kWrite) != 0 && !access.old_value &&
                    !access.new_value;
  state_.pass(news, lost);
  if (access.new_value) {
    const bool is_news = differs(state_.after, access.bytes(), *access.new_value);
    if (is_news) news.new_value = access.new_value;
    const bool told = (access.bytes() & ~state_.after.told) == 0;
    news.new_holds = !is_news && (!told || access.leaves);
    state_.after.set(access.bytes(), *access.new_value);
    state_.left_ |= access.bytes();
  }
  put(chains, news, lost, forgets);
}

void CellLog::put(ByteChains& chains, const CellAccess& news, bool lost, bool forgets) {
  const bool has_old = news.old_value || news.old_holds;
  const bool has_new = news.new_value || news.new_holds;
  if (news.kind == CellAccess::kNearby && !has_old && !has_new) return;
  const auto* range = std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& one) {
    return one.start == news.start && one.size == news.size;
  });
  const auto range_code = static_cast<uint8_t>(range - std::begin(kRanges));
  Encoder entry;
  entry.put(news.kind | (has_old ? kOldBit : 0) | (has_new ? kNewBit : 0) |
                (lost ? kLostBit : 0) | (range_code << kRangeShift) |
                (forgets ? kForgetsBit : 0), 1);
  if (empty())
    first_step_ = news.step;
  else
    entry.size += put_varint(entry.bytes + entry.size, news.step - last_step_);
  if (range_code == kRangeTold) entry.put(news.start | (news.size - 1) << 3, 1);
  if (has_old || has_new) {
    const uint64_t old_value = moved(news.old_value.value_or(0), news);
    const uint64_t new_value = moved(news.new_value.value_or(0), news);
    const size_t old_size = packed_size(old_value), new_size = packed_size(new_value);
    entry.put((news.old_holds ? kHolds : old_size) | (news.new_holds ? kHolds : new_size) << 4, 1);
    entry.put(old_value, old_size);
    entry.put(new_value, new_size);
  }
  chains.append(chain_, entry.bytes, entry.size);
  last_step_ = news.step;
}

void CellLog::finish(ByteChains& chains, const SegmentOpenings& openings,
                     std::vector<uint8_t>& scratch, std::vector<uint8_t>& out) {
  chains.copy(chain_, scratch);
  std::vector<uint8_t> skips;
  ByteWriter writer(skips, Endian::Little);
  CellHistory::Walk walk;
  walk.begin(scratch, first_step_);
  uint8_t kinds = 0, first_kinds = 0;
  const auto end_part = [&] { (skips.empty() ? first_kinds : skips.back()) = kinds; };
  std::optional<Opening> opening;
  uint64_t next_opening = 0;
  size_t steps = 0;  // since the last skip
  const uint8_t* part = scratch.data();
  while (walk.has_next_) {
    const uint32_t next = walk.next_.step;
    if (next >= next_opening) {
      opening = openings.last(next);
      const auto behind = openings.next(next);
      next_opening = behind ? behind->moment : UINT64_MAX;
    }
    walk.open(opening);
    walk.read();
    kinds |= walk.kinds();
    const uint8_t* const here = walk.has_next_ ? walk.next_at_ : walk.entries_.position();
    const bool is_large = static_cast<size_t>(here - part) >= CellHistory::kPartBytes;
    const bool is_full = ++steps == CellHistory::kStepsPerSkip && walk.has_next_;
    if (!is_full && !is_large) continue;
    steps = 0;
    part = here;
    end_part();
    kinds = 0;
    const CellContent& content = walk.state().after;
    writer.uint(walk.step(), 4);
    writer.uint(static_cast<uint64_t>(here - scratch.data()), 4);
    writer.uint(content.value, 8);
    const ByteMask left = walk.state().left_;
    for (uint8_t value : {content.known, content.lost, content.told, left, uint8_t{0}})
      writer.uint(value, 1);
  }
  end_part();
  out.clear();
  if (!skips.empty()) {
    out.resize(1 + kVarintMax);
    out[0] = kHasSkips | first_kinds;
    out.resize(1 + put_varint(out.data() + 1, skips.size() / kCellSkipBytes));
  }
  out.insert(out.end(), skips.begin(), skips.end());
  out.insert(out.end(), scratch.begin(), scratch.end());
}

void CellHistory::Walk::begin(Bytes entries, uint32_t first) {
  entries_ = Cursor(entries);
  begin_ = entries.data();
  next_.step = first;
  decode(true);
}

/// The next entry into next_.
void CellHistory::Walk::decode(bool first) {
  has_next_ = false;
  if (entries_.at_end()) return;
  next_at_ = entries_.position();
  has_next_ = decode_entry(first) && !entries_.bad();
  if (!has_next_) stream_.tell_damage();
}

bool CellHistory::Walk::decode_entry(bool first) {
  const uint8_t head = entries_.byte();
  const uint64_t distance = first ? 0 : entries_.varint();
  const uint64_t step = next_.step + std::min<uint64_t>(distance, uint64_t{UINT32_MAX} + 1);
  const uint8_t code = head >> kRangeShift & kRangeBits;
  Range range = {0, 0};
  if (code < kRangeTold) {
    range = kRanges[code];
  } else {
    const uint8_t told = entries_.byte();
    range = {static_cast<uint8_t>(told & 7), static_cast<uint8_t>((told >> 3 & 7) + 1)};
  }
  if (step > limit_ || code > kRangeTold || range.start + range.size > int{kCellBytes})
    return false;
  next_.step = static_cast<uint32_t>(step);
  next_.kind = static_cast<CellAccess::Kind>(head & kKindBits);
  next_.start = range.start;
  next_.size = range.size;
  next_.old_value.reset();
  next_.new_value.reset();
  next_.old_holds = next_.new_holds = false;
  lost_ = (head & kLostBit) != 0;
  forgets_ = !first && (head & kForgetsBit) != 0;
  if ((head & (kOldBit | kNewBit)) != 0) {
    const uint8_t sizes = entries_.byte();
    const auto take = [&](uint8_t size, bool is_there, std::optional<uint64_t>& value,
                          bool& holds) {
      holds = is_there && size == kHolds;
      if (holds) return true;
      if (size > range.size) return false;
      const uint64_t bytes = entries_.uint(size);
      if (is_there) value = bytes << (8 * range.start);
      return true;
    };
    if (!take(sizes & 15, (head & kOldBit) != 0, next_.old_value, next_.old_holds) ||
        !take(sizes >> 4, (head & kNewBit) != 0, next_.new_value, next_.new_holds))
      return false;
  }
  return true;
}

bool CellHistory::Walk::read() {
  if (!has_next_) return false;
  step_ = next_.step;
  changed_ = read_ = written_ = told_found_ = 0;
  if (forgets_) state_ = {};
  const CellContent was = state_.after;
  do {
    if (forgets_) state_ = {};
    if (next_.old_value || next_.old_holds) told_found_ |= state_.fresh(next_);
    state_.pass(next_, lost_);
    if (next_.new_value || next_.new_holds || lost_) changed_ |= next_.bytes();
    if ((next_.kind & CellAccess::kRead) != 0) read_ |= next_.bytes();
    if ((next_.kind & CellAccess::kWrite) != 0) written_ |= next_.bytes();
    decode(false);
  } while (has_next_ && next_.step == step_);
  found_changed_ = differing(was, state_.before);
  return true;
}

CellHistory::CellHistory(const Stream& stream) : stream_(stream) {
  Cursor in(stream.bytes);
  if (!stream.bytes.empty() && (stream.bytes[0] & kHasSkips) != 0) {
    const uint8_t kinds = in.byte() & kAllKinds;
    const uint64_t skips = in.varint();
    if (in.bad() || skips > in.left() / kCellSkipBytes) {
      stream.tell_damage();
      return;
    }
    first_kinds_ = kinds;
    skip_count_ = skips;
    skips_ = in.take(skips * kCellSkipBytes).data();
  }
  entries_ = in.take(in.left());
}

/// How many skips stand behind steps that are less.
size_t CellHistory::skip_of(uint64_t step) const {
  return skips_until(skips_, skip_count_, kCellSkipBytes,
                     [&](uint64_t behind) { return behind >= step; });
}

std::optional<CellHistory::Part> CellHistory::part_of(size_t skip) const {
  Part part;
  part.skip = skip;
  part.before = stream_.first;
  part.end = entries_.size();
  const auto read = [&](size_t number, uint32_t& step, uint64_t& offset) {
    const uint8_t* const at = skips_ + number * kCellSkipBytes;
    step = static_cast<uint32_t>(load_uint(at, 4, Endian::Little));
    offset = load_uint(at + 4, 4, Endian::Little);
  };
  if (skip != 0) read(skip - 1, part.before, part.begin);
  if (skip != skip_count_) read(skip, part.last, part.end);
  const bool steps = skip == 0 ? part.before <= part.last : part.before < part.last;
  const bool bytes = part.begin < part.end || (skip == skip_count_ && part.begin == part.end);
  if (steps && bytes && part.end <= entries_.size()) return part;
  stream_.tell_damage();
  return std::nullopt;
}

CellHistory::Walk CellHistory::walk_within(const Part& part) const {
  Walk walk;
  walk.stream_ = stream_;
  walk.limit_ = part.last;
  const Bytes entries = entries_.subspan(part.begin, part.end - part.begin);
  if (part.skip == 0) {
    walk.begin(entries, part.before);
    return walk;
  }
  const uint8_t* const at = skips_ + (part.skip - 1) * kCellSkipBytes;
  walk.step_ = walk.next_.step = part.before;
  CellContent& content = walk.state_.after;
  content.value = load_uint(at + 8, 8, Endian::Little);
  content.known = at[16];
  content.lost = at[17];
  content.told = at[18] & at[16];
  walk.state_.left_ = at[19];
  walk.state_.step_ = walk.step_;
  walk.entries_ = Cursor(entries);
  walk.begin_ = entries.data();
  walk.decode(false);
  if (walk.has_next_ && walk.next_.step == part.before) walk.has_next_ = stream_.tell_damage();
  return walk;
}

CellHistory::Walk CellHistory::walk_on(size_t skip) const {
  auto part = part_of(skip);
  if (!part) return {};
  part->end = entries_.size();
  part->last = UINT32_MAX;
  return walk_within(*part);
}

bool CellHistory::go_to(uint64_t step, const std::optional<Opening>& opening, Walk& walk) const {
  for (size_t i = 0; walk.has_next_ && walk.next_.step < step; ++i) {
    if (i == kStepsPerSkip) return stream_.tell_damage();
    if (opening && walk.next_.step >= opening->moment) walk.open(opening);
    walk.read();
    // Behind that much there is a skip, from which nobody who asks for a later step reads it.
    if (walk.used() >= kPartBytes) return stream_.tell_damage();
  }
  return true;
}

uint8_t CellHistory::kinds_of(size_t skip) const {
  return skip == 0 ? first_kinds_ : skips_[(skip - 1) * kCellSkipBytes + kSkipKinds];
}

CellContent CellHistory::content_before(uint64_t step, uint64_t since,
                                        const std::optional<Opening>& opening, bool own) const {
  const auto part = part_of(skip_of(step));
  if (!part) return {};
  Walk walk = walk_within(*part);
  if (!go_to(step, opening, walk)) return {};
  if (own && walk.has_next_ && walk.next_.step == step) {
    if (opening && step >= opening->moment) walk.open(opening);
    walk.read();
    return walk.state().before;
  }
  // The step that a skip stands behind is in front of that.
  if (!walk.has_next_ && part->skip != skip_count_) stream_.tell_damage();
  if (walk.step() < since) return {};
  walk.open(opening);
  return walk.state().after;
}

ByteMask CellHistory::fill_back(uint64_t step, uint64_t until,
                                const std::optional<Opening>& opening, ByteMask wanted,
                                CellContent& content) const {
  Walk walk = walk_on(skip_of(step));
  if (!go_to(std::min(step, until), opening, walk)) return wanted;
  while (wanted != 0 && walk.has_next_ && walk.next_.step < until) {
    if (opening && walk.next_.step >= opening->moment) walk.open(opening);
    walk.read();
    const ByteMask found = wanted & walk.state().before.told;
    content.set(found, walk.state().before.value);
    wanted &= static_cast<ByteMask>(~(found | walk.changed()));
  }
  return wanted;
}

CellHistory::Found CellHistory::first_found(ByteMask wanted, uint64_t until) const {
  Found out;
  Walk walk = walk_on(0);
  while (wanted != 0 && walk.read() && walk.step() < until) {
    const ByteMask found = wanted & walk.state().before.known;
    out.content.set(found, walk.state().before.value);
    for (unsigned i = 0; i < kCellBytes; ++i)
      if ((found >> i & 1) != 0) out.steps[i] = walk.step();
    wanted &= static_cast<ByteMask>(~(found | walk.changed()));
  }
  return out;
}

std::optional<CellHistory::Told> CellHistory::last_told(uint64_t step, ByteMask byte) const {
  for (size_t skip = skip_of(step) + 1; skip-- > 0;) {
    const auto part = part_of(skip);
    if (!part) break;
    std::optional<Told> found;
    Walk walk = walk_within(*part);
    for (size_t i = 0; i < kStepsPerSkip && walk.has_next_ && walk.next_.step < step; ++i) {
      walk.read();
      const bool left = (walk.told_left() & byte) != 0;
      if (left || (walk.told_found() & byte) != 0) found = Told{walk.step(), left};
    }
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<uint32_t> CellHistory::next(uint64_t from, ByteMask bytes, uint8_t kinds,
                                          uint64_t end) const {
  for (size_t skip = skip_of(from); skip <= skip_count_; ++skip) {
    const auto part = part_of(skip);
    if (!part || part->before >= end) break;
    if ((kinds_of(skip) & kinds) == 0) continue;
    Walk walk = walk_within(*part);
    for (size_t i = 0; i < kStepsPerSkip && walk.read() && walk.step() < end; ++i)
      if (walk.step() >= from && walk.touches(bytes, kinds)) return walk.step();
  }
  return std::nullopt;
}

std::optional<uint32_t> CellHistory::last(uint64_t before, ByteMask bytes, uint8_t kinds) const {
  for (size_t skip = skip_of(before) + 1; skip-- > 0;) {
    const auto part = part_of(skip);
    if (!part) break;
    if ((kinds_of(skip) & kinds) == 0) continue;
    std::optional<uint32_t> found;
    Walk walk = walk_within(*part);
    for (size_t i = 0; i < kStepsPerSkip && walk.read() && walk.step() < before; ++i)
      if (walk.touches(bytes, kinds)) found = walk.step();
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace tracewell::timeline
