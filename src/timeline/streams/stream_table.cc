#include "timeline/streams/stream_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/varint.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kEntryBytesMax = 3 * kVarintMax;

}  // namespace

void StreamTableWriter::add(uint64_t key, const Stream& stream) {
  TW_CHECK(count_ == 0 || key > last_key_);
  if (entries_.size() == StreamTable::kGroup) end_group();
  if (entries_.empty()) {
    ByteWriter writer(groups_, Endian::Little);
    writer.uint(key, 8);
    writer.uint(bodies_.size(), StreamTable::kOffsetBytes);
  }
  entries_.push_back({key - last_key_, stream.bytes.size(), stream.first});
  streams_.insert(streams_.end(), stream.bytes.begin(), stream.bytes.end());
  last_key_ = key;
  ++count_;
}

void StreamTableWriter::end_group() {
  if (entries_.empty()) return;
  const bool is_first = bodies_.empty();
  const uint32_t least = std::ranges::min_element(entries_, {}, &Entry::first)->first;
  append_varint(bodies_, least);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i != 0 || is_first) append_varint(bodies_, entries_[i].distance);
    append_varint(bodies_, entries_[i].size);
    append_varint(bodies_, entries_[i].first - least);
  }
  bodies_.insert(bodies_.end(), streams_.begin(), streams_.end());
  entries_.clear();
  streams_.clear();
}

Pieces StreamTableWriter::finish() {
  end_group();
  std::vector<uint8_t> head;
  append_varint(head, count_);
  if (count_ > StreamTable::kGroup) head.insert(head.end(), groups_.begin(), groups_.end());
  Pieces out;
  out.push_back(std::move(head));
  out.push_back(std::move(bodies_));
  return out;
}

uint64_t size_of(const Pieces& pieces) {
  uint64_t size = 0;
  for (const std::vector<uint8_t>& piece : pieces) size += piece.size();
  return size;
}

StreamTable::StreamTable(Bytes table, const Sums* sums) : sums_(sums) {
  if (!good(table.first(std::min(table.size(), kVarintMax)))) return;
  Cursor in(table);
  const uint64_t count = in.varint();
  // An entry takes two bytes at least.
  if (in.bad() || count == 0 || count > in.left() / 2) return;
  const uint64_t groups = count / kGroup + (count % kGroup != 0 ? 1 : 0);
  if (groups > 1) heads_ = in.take(groups * kGroupBytes).data();
  if (in.bad()) return;
  bodies_ = in.take(in.left());
  groups_ = groups;
  count_ = count;
}

void StreamTable::torn() const {
  if (sums_ != nullptr) sums_->tell_damage();
}

/// The last group that does not begin behind the key, or the first one. Whatever way two searches
/// part, what one of them finds ends in front of what the other one finds: so a few bytes are not
/// the streams of many keys.
StreamTable::Group StreamTable::group_of(uint64_t key) const {
  Group low = {0, 0, bodies_.size()};
  for (uint64_t high = groups_; high - low.number > 1;) {
    const uint64_t middle = low.number + (high - low.number) / 2;
    const uint8_t* head = heads_ + middle * kGroupBytes;
    if (!good({head, kGroupBytes})) return low;
    const uint64_t start = load_uint(head + 8, kOffsetBytes, Endian::Little);
    if (start < low.begin || start > low.end) {
      torn();
      return low;
    }
    if (load_uint(head, 8, Endian::Little) <= key) {
      low = {middle, start, low.end};
    } else {
      high = middle;
      low.end = start;
    }
  }
  return low;
}

/// `begin`: nothing of it lies in front of that; then where it ends.
size_t StreamTable::read_group(uint64_t group, uint64_t& begin, uint64_t end,
                               Item (&items)[kGroup]) const {
  uint64_t key = 0, start = 0;
  if (groups_ > 1) {
    const uint8_t* head = heads_ + group * kGroupBytes;
    if (!good({head, kGroupBytes})) return 0;
    key = load_uint(head, 8, Endian::Little);
    start = load_uint(head + 8, kOffsetBytes, Endian::Little);
  }
  if (start < begin || start > end) {
    torn();
    return 0;
  }
  const Bytes from = bodies_.subspan(start, end - start);
  const size_t wanted = std::min<uint64_t>(kGroup, count_ - group * kGroup);
  if (!good(from.first(std::min(from.size(), kVarintMax + wanted * kEntryBytesMax)))) return 0;
  Cursor in(from);
  const uint64_t least = in.varint();
  uint64_t sizes[kGroup];
  for (size_t i = 0; i < wanted; ++i) {
    const uint64_t distance = i != 0 || group == 0 ? in.varint() : 0;
    const uint64_t before = key;
    key = i != 0 ? key + distance : group == 0 ? distance : key;
    sizes[i] = in.varint();
    const uint64_t first = least + in.varint();
    if (in.bad() || (i != 0 && key <= before) || first > UINT32_MAX) {
      torn();
      return 0;
    }
    items[i].key = key;
    items[i].stream = {static_cast<uint32_t>(first), {}, sums_};
  }
  for (size_t i = 0; i < wanted; ++i) {
    items[i].stream.bytes = in.take(sizes[i]);
    if (!in.bad()) continue;
    torn();
    return 0;
  }
  begin = end - in.left();
  return wanted;
}

std::optional<Stream> StreamTable::find(uint64_t key) const {
  const auto stream = find_unseen(key);
  return stream && good(stream->bytes) ? stream : std::nullopt;
}

std::optional<Stream> StreamTable::find_unseen(uint64_t key) const {
  if (count_ == 0) return std::nullopt;
  Item items[kGroup];
  Group group = group_of(key);
  const size_t found = read_group(group.number, group.begin, group.end, items);
  for (size_t i = 0; i < found; ++i)
    if (items[i].key == key) return items[i].stream;
  return std::nullopt;
}

}  // namespace tracewell::timeline
