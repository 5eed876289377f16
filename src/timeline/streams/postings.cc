#include "timeline/streams/postings.h"

#include <algorithm>

#include "timeline/streams/skips.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kSkipBytes = 12;

}  // namespace

void PostingList::add_run(ByteChains& chains, uint32_t first, uint32_t end) {
  if (count_ != 0) first = std::max(first, end_);
  if (first >= end) return;
  add(chains, first);
  count_ += end - end_;
  end_ = end;
}

void PostingList::flush(ByteChains& chains) {
  if (begin_ == end_) return;
  const bool run = end_ - begin_ > 1;
  uint8_t bytes[2 * kVarintMax];
  size_t size = put_varint(bytes, uint64_t{begin_ - done_} << 1 | (run ? 1 : 0));
  if (run) size += put_varint(bytes + size, end_ - begin_ - 2);
  chains.append(chain_, bytes, size);
  done_ = end_;
}

void PostingList::finish(ByteChains& chains, std::vector<uint8_t>& scratch,
                         std::vector<uint8_t>& out) {
  out.clear();
  if (count_ == 1) return;
  flush(chains);
  chains.copy(chain_, scratch);
  std::vector<uint8_t> skips;
  ByteWriter writer(skips, Endian::Little);
  Cursor pairs{Bytes(scratch)};
  uint64_t done = first_, count = 0;
  for (size_t i = 0; !pairs.at_end(); ++i) {
    if (i != 0 && i % Postings::kPairsPerSkip == 0)
      for (uint64_t value : {done, uint64_t{scratch.size() - pairs.left()}, count})
        writer.uint(value, 4);
    const uint64_t pair = pairs.varint();
    const uint64_t size = (pair & 1) != 0 ? pairs.varint() + 2 : 1;
    done += (pair >> 1) + size;
    count += size;
  }
  append_varint(out, skips.size() / kSkipBytes);
  if (!skips.empty()) append_varint(out, count_);
  out.insert(out.end(), skips.begin(), skips.end());
  out.insert(out.end(), scratch.begin(), scratch.end());
}

/// What stands for a stream of one number is what a list of it would have.
Postings::Postings(const Stream& stream) : stream_(stream) {
  static constexpr uint8_t kOne[] = {0};
  if (stream.bytes.empty()) {
    pairs_ = kOne;
    return;
  }
  Cursor in(stream.bytes);
  const uint64_t skips = in.varint();
  const uint64_t count = skips != 0 ? in.varint() : 0;
  if (in.bad() || skips > in.left() / kSkipBytes) {
    stream.tell_damage();
    return;
  }
  count_ = count;
  skip_count_ = skips;
  skips_ = in.take(skips * kSkipBytes).data();
  pairs_ = in.take(in.left());
}

/// Of a list without skips.
uint64_t Postings::counted() const {
  uint64_t count = 0;
  Walk walk = walk_at(0);
  for (size_t i = 0; read(walk); ++i) {
    if (i == kPairsPerSkip) {
      stream_.tell_damage();
      break;
    }
    count += walk.end - walk.begin;
  }
  return count;
}

/// How many skips lead to pairs that begin no later than at the number.
size_t Postings::skip_of(uint64_t number) const {
  return skips_until(skips_, skip_count_, kSkipBytes,
                     [&](uint64_t first) { return first > number; });
}

Postings::Walk Postings::walk_at(size_t skip) const {
  Walk walk;
  walk.end = stream_.first;
  uint64_t offset = 0;
  if (skip != 0) {
    const uint8_t* at = skips_ + (skip - 1) * kSkipBytes;
    walk.end = load_uint(at, 4, Endian::Little);
    offset = load_uint(at + 4, 4, Endian::Little);
  }
  if (offset <= pairs_.size())
    walk.pairs = Cursor(pairs_.subspan(offset));
  else
    stream_.tell_damage();
  return walk;
}

bool Postings::read(Walk& walk) const {
  if (walk.pairs.at_end()) return false;
  const uint64_t pair = walk.pairs.varint();
  const uint64_t more = (pair & 1) != 0 ? walk.pairs.varint() : 0;
  // No segment has more steps, so sums cannot overflow either.
  if (walk.pairs.bad() || (pair >> 1) > UINT32_MAX || more > UINT32_MAX - 2)
    return stream_.tell_damage();
  walk.begin = walk.end + (pair >> 1);
  walk.end = walk.begin + ((pair & 1) != 0 ? more + 2 : 1);
  return walk.end <= UINT32_MAX || stream_.tell_damage();
}

/// It is among the pairs behind one skip, or the first one behind the next.
Postings::Walk Postings::go_to(uint64_t number) const {
  Walk walk = walk_at(skip_of(number));
  for (size_t i = 0; i <= kPairsPerSkip; ++i) {
    if (!read(walk)) return walk;
    walk.found = walk.end > number;
    if (walk.found) return walk;
  }
  stream_.tell_damage();
  return walk;
}

void Postings::look_over() const {
  Walk all = walk_at(0);
  for (size_t skip = 1; skip <= skip_count_; ++skip) {
    for (size_t i = 0; i < kPairsPerSkip; ++i)
      if (!read(all)) {
        stream_.tell_damage();
        return;
      }
    const Walk there = walk_at(skip);
    if (there.end == all.end && there.pairs.position() == all.pairs.position()) continue;
    stream_.tell_damage();
    return;
  }
  size_t left = 0;
  while (read(all)) ++left;
  if (left > kPairsPerSkip) stream_.tell_damage();
}

std::optional<uint32_t> Postings::next(uint64_t from) const {
  const Walk walk = go_to(from);
  if (!walk.found) return std::nullopt;
  return static_cast<uint32_t>(std::max(walk.begin, from));
}

/// Where the pairs behind a skip begin too late, those behind the one before do not.
std::optional<uint32_t> Postings::last(uint64_t before) const {
  const size_t skip = skip_of(before);
  for (size_t back = 0; back <= std::min<size_t>(skip, 1); ++back) {
    std::optional<uint32_t> found;
    Walk walk = walk_at(skip - back);
    for (size_t i = 0; read(walk) && walk.begin < before; ++i) {
      if (i == kPairsPerSkip) {  // a skip is missing, or leads too far
        stream_.tell_damage();
        break;
      }
      found = static_cast<uint32_t>(std::min(walk.end, before) - 1);
    }
    if (found) return found;
  }
  if (skip != 0) stream_.tell_damage();
  return std::nullopt;
}

}  // namespace tracewell::timeline
