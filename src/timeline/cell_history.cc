#include "timeline/cell_history.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "timeline/skips.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kCellSkipBytes = 19, kSkipKinds = 18;
constexpr uint8_t kKindBits = 3, kOldBit = 4, kNewBit = 8, kLostBit = 16, kForgetsBit = 128;
constexpr uint8_t kHasSkips = 128;
constexpr unsigned kRangeShift = 5;
constexpr uint8_t kRangeBits = 3, kRangeTold = 3;

struct Range {
  uint8_t start, size;
};
constexpr Range kRanges[] = {{0, 8}, {0, 4}, {4, 4}};

constexpr std::array<uint64_t, 256> wide_masks() {
  std::array<uint64_t, 256> masks = {};
  for (unsigned bytes = 0; bytes < 256; ++bytes)
    for (unsigned i = 0; i < kCellBytes; ++i)
      if (((bytes >> i) & 1) != 0) masks[bytes] |= uint64_t{0xff} << (8 * i);
  return masks;
}
constexpr std::array<uint64_t, 256> kWideMasks = wide_masks();

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

uint64_t wide_mask(ByteMask bytes) { return kWideMasks[bytes]; }

void CellContent::set(ByteMask bytes, uint64_t from) {
  const uint64_t mask = wide_mask(bytes);
  value = (value & ~mask) | (from & mask);
  known |= bytes;
  lost &= static_cast<ByteMask>(~bytes);
}

void CellContent::lose(ByteMask bytes) {
  value &= ~wide_mask(bytes);
  known &= static_cast<ByteMask>(~bytes);
  lost |= bytes;
}

void CellState::pass(const CellAccess& access, bool lost) {
  const ByteMask bytes = fresh(access);
  if (access.step != step_) {
    before = after;
    step_ = access.step;
    touched_ = 0;
  }
  if (access.old_value) {
    before.set(bytes, *access.old_value);
    after.set(bytes, *access.old_value);
  }
  if (access.new_value) after.set(access.bytes(), *access.new_value);
  if (lost) after.lose(access.bytes());
  if (access.kind != CellAccess::kNearby) touched_ |= access.bytes();
}

void CellLog::add(ByteChains& chains, const CellAccess& access, uint32_t loss) {
  const bool forgets = !empty() && last_step_ < loss;
  if (forgets) state_ = {};
  CellAccess news = access;
  const ByteMask fresh = state_.fresh(access);
  const CellContent& before = access.step == state_.step() ? state_.before : state_.after;
  if (news.old_value && !differs(before, fresh, *news.old_value) &&
      !differs(state_.after, fresh, *news.old_value))
    news.old_value.reset();
  news.new_value.reset();
  const bool lost = (access.kind & CellAccess::kWrite) != 0 && !access.old_value &&
                    !access.new_value;
  state_.pass(news, lost);
  if (access.new_value && differs(state_.after, access.bytes(), *access.new_value)) {
    news.new_value = access.new_value;
    state_.after.set(access.bytes(), *access.new_value);
  }
  const bool tells = news.old_value || news.new_value;
  if (access.kind == CellAccess::kNearby && !tells) return;

  const auto* range = std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& one) {
    return one.start == access.start && one.size == access.size;
  });
  const auto range_code = static_cast<uint8_t>(range - std::begin(kRanges));
  Encoder entry;
  entry.put(access.kind | (news.old_value ? kOldBit : 0) | (news.new_value ? kNewBit : 0) |
                (lost ? kLostBit : 0) | (range_code << kRangeShift) |
                (forgets ? kForgetsBit : 0), 1);
  if (empty())
    first_step_ = access.step;
  else
    entry.size += put_varint(entry.bytes + entry.size, access.step - last_step_);
  if (range_code == kRangeTold) entry.put(access.start | (access.size - 1) << 3, 1);
  if (tells) {
    const uint64_t old_value = moved(news.old_value.value_or(0), access);
    const uint64_t new_value = moved(news.new_value.value_or(0), access);
    entry.put(packed_size(old_value) | packed_size(new_value) << 4, 1);
    entry.put(old_value, packed_size(old_value));
    entry.put(new_value, packed_size(new_value));
  }
  chains.append(chain_, entry.bytes, entry.size);
  last_step_ = access.step;
}

void CellLog::finish(ByteChains& chains, std::vector<uint8_t>& scratch,
                     std::vector<uint8_t>& out) {
  chains.copy(chain_, scratch);
  std::vector<uint8_t> skips;
  ByteWriter writer(skips, Endian::Little);
  CellHistory::Walk walk;
  walk.begin(scratch, first_step_);
  uint8_t kinds = 0, first_kinds = 0;
  const auto end_part = [&] { (skips.empty() ? first_kinds : skips.back()) = kinds; };
  for (size_t steps = 1; walk.read(); ++steps) {
    kinds |= walk.kinds();
    if (steps % CellHistory::kStepsPerSkip != 0 || !walk.has_next_) continue;
    end_part();
    kinds = 0;
    const CellContent& content = walk.state().after;
    writer.uint(walk.step(), 4);
    writer.uint(static_cast<uint64_t>(walk.next_at_ - scratch.data()), 4);
    writer.uint(content.value, 8);
    for (uint8_t value : {content.known, content.lost, uint8_t{0}}) writer.uint(value, 1);
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
  next_.step = first;
  decode(true);
}

/// The next entry into next_.
void CellHistory::Walk::decode(bool first) {
  has_next_ = false;
  if (entries_.at_end()) return;
  next_at_ = entries_.position();
  const uint8_t head = entries_.byte();
  const uint64_t step = next_.step + (first ? 0 : entries_.varint());
  const uint8_t code = head >> kRangeShift & kRangeBits;
  Range range = {0, 0};
  if (code < kRangeTold) {
    range = kRanges[code];
  } else {
    const uint8_t told = entries_.byte();
    range = {static_cast<uint8_t>(told & 7), static_cast<uint8_t>((told >> 3 & 7) + 1)};
  }
  if (step > UINT32_MAX || code > kRangeTold || range.start + range.size > int{kCellBytes}) return;
  next_.step = static_cast<uint32_t>(step);
  next_.kind = static_cast<CellAccess::Kind>(head & kKindBits);
  next_.start = range.start;
  next_.size = range.size;
  next_.old_value.reset();
  next_.new_value.reset();
  lost_ = (head & kLostBit) != 0;
  forgets_ = !first && (head & kForgetsBit) != 0;
  if ((head & (kOldBit | kNewBit)) != 0) {
    const uint8_t sizes = entries_.byte();
    if ((sizes & 15) > range.size || sizes >> 4 > range.size) return;
    const uint64_t old_value = entries_.uint(sizes & 15), new_value = entries_.uint(sizes >> 4);
    if ((head & kOldBit) != 0) next_.old_value = old_value << (8 * range.start);
    if ((head & kNewBit) != 0) next_.new_value = new_value << (8 * range.start);
  }
  has_next_ = !entries_.bad();
}

bool CellHistory::Walk::read() {
  if (!has_next_) return false;
  step_ = next_.step;
  changed_ = read_ = written_ = 0;
  do {
    if (forgets_) state_ = {};
    state_.pass(next_, lost_);
    if (next_.new_value || lost_) changed_ |= next_.bytes();
    if ((next_.kind & CellAccess::kRead) != 0) read_ |= next_.bytes();
    if ((next_.kind & CellAccess::kWrite) != 0) written_ |= next_.bytes();
    decode(false);
  } while (has_next_ && next_.step == step_);
  return true;
}

CellHistory::CellHistory(const Stream& stream) : first_step_(stream.first) {
  Cursor in(stream.bytes);
  if (!stream.bytes.empty() && (stream.bytes[0] & kHasSkips) != 0) {
    const uint8_t kinds = in.byte() & kKindBits;
    const uint64_t skips = in.varint();
    if (in.bad() || skips > in.left() / kCellSkipBytes) return;
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

CellHistory::Walk CellHistory::walk_at(size_t skip) const {
  Walk walk;
  if (skip == 0) {
    walk.begin(entries_, first_step_);
    return walk;
  }
  const uint8_t* at = skips_ + (skip - 1) * kCellSkipBytes;
  walk.step_ = walk.next_.step = static_cast<uint32_t>(load_uint(at, 4, Endian::Little));
  const uint64_t offset = load_uint(at + 4, 4, Endian::Little);
  CellContent& content = walk.state_.after;
  content.value = load_uint(at + 8, 8, Endian::Little);
  content.known = at[16];
  content.lost = at[17];
  if (offset <= entries_.size()) walk.entries_ = Cursor(entries_.subspan(offset));
  walk.decode(false);
  return walk;
}

uint8_t CellHistory::kinds_of(size_t skip) const {
  return skip == 0 ? first_kinds_ : skips_[(skip - 1) * kCellSkipBytes + kSkipKinds];
}

CellContent CellHistory::content_before(uint64_t step, uint64_t since) const {
  Walk walk = walk_at(skip_of(step));
  while (walk.has_next_ && walk.next_.step <= step) {
    walk.read();
    if (walk.step() == step) return walk.state().before;
  }
  return walk.step() < since ? CellContent() : walk.state().after;
}

ByteMask CellHistory::fill_back(uint64_t step, uint64_t until, ByteMask wanted,
                                CellContent& content) const {
  Walk walk = walk_at(skip_of(step));
  while (wanted != 0 && walk.read() && walk.step() < until) {
    if (walk.step() < step) continue;
    const ByteMask found = wanted & walk.state().before.known;
    content.set(found, walk.state().before.value);
    wanted &= static_cast<ByteMask>(~(found | walk.changed()));
  }
  return wanted;
}

std::optional<uint32_t> CellHistory::next(uint64_t from, ByteMask bytes, uint8_t kinds) const {
  for (size_t skip = skip_of(from); skip <= skip_count_; ++skip) {
    if ((kinds_of(skip) & kinds) == 0) continue;
    Walk walk = walk_at(skip);
    for (size_t i = 0; i < kStepsPerSkip && walk.read(); ++i)
      if (walk.step() >= from && walk.touches(bytes, kinds)) return walk.step();
  }
  return std::nullopt;
}

std::optional<uint32_t> CellHistory::last(uint64_t before, ByteMask bytes, uint8_t kinds) const {
  for (size_t skip = skip_of(before) + 1; skip-- > 0;) {
    if ((kinds_of(skip) & kinds) == 0) continue;
    std::optional<uint32_t> found;
    Walk walk = walk_at(skip);
    for (size_t i = 0; i < kStepsPerSkip && walk.read() && walk.step() < before; ++i)
      if (walk.touches(bytes, kinds)) found = walk.step();
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace tracewell::timeline
