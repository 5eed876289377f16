#include "timeline/stream_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/varint.h"

namespace tracewell::timeline {
namespace {

uint64_t word(const uint8_t* at) { return load_uint(at, 8, Endian::Little); }

}  // namespace

void StreamTableWriter::add(uint64_t key, Bytes stream) {
  TW_CHECK(count_ == 0 || key > last_key_);
  if (count_ % StreamTable::kGroup == 0) {
    groups_.insert(groups_.end(), {key, entries_.size(), streams_.size()});
    last_key_ = key;
  }
  uint8_t bytes[2 * kVarintMax];
  size_t size = put_varint(bytes, key - last_key_);
  size += put_varint(bytes + size, stream.size());
  entries_.insert(entries_.end(), bytes, bytes + size);
  streams_.insert(streams_.end(), stream.begin(), stream.end());
  last_key_ = key;
  ++count_;
}

Pieces StreamTableWriter::finish() {
  std::vector<uint8_t> head;
  ByteWriter writer(head, Endian::Little);
  writer.uint(count_, 8);
  writer.uint(streams_.size(), 8);
  for (uint64_t value : groups_) writer.uint(value, 8);
  writer.bytes(entries_);
  Pieces out;
  out.push_back(std::move(head));
  out.push_back(std::move(streams_));
  return out;
}

uint64_t size_of(const Pieces& pieces) {
  uint64_t size = 0;
  for (const std::vector<uint8_t>& piece : pieces) size += piece.size();
  return size;
}

StreamTable::StreamTable(Bytes table, const Sums* sums) : sums_(sums) {
  if (table.size() < kHeadBytes || !good(table.first(kHeadBytes))) return;
  const uint64_t count = word(table.data()), streams = word(table.data() + 8);
  table = table.subspan(kHeadBytes);
  // An entry takes two bytes at least.
  if (count > table.size() / 2 || streams > table.size()) return;
  const uint64_t groups = (count + kGroup - 1) / kGroup;
  if (groups > (table.size() - streams) / kGroupBytes) return;
  heads_ = table.data();
  entries_ = table.subspan(groups * kGroupBytes, table.size() - streams - groups * kGroupBytes);
  streams_ = table.last(streams);
  groups_ = groups;
  count_ = count;
}

/// The last group that does not begin behind the key, or the first one.
uint64_t StreamTable::group_of(uint64_t key) const {
  uint64_t low = 0, high = groups_;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (!good({heads_ + middle * kGroupBytes, kGroupBytes})) return low;
    (word(heads_ + middle * kGroupBytes) <= key ? low : high) = middle;
  }
  return low;
}

size_t StreamTable::read_group(uint64_t group, Item (&items)[kGroup]) const {
  const uint8_t* head = heads_ + group * kGroupBytes;
  if (!good({head, kGroupBytes})) return 0;
  const uint64_t entry = word(head + 8), start = word(head + 16);
  if (entry > entries_.size() || start > streams_.size()) return 0;
  const size_t wanted = std::min<uint64_t>(kGroup, count_ - group * kGroup);
  const Bytes from = entries_.subspan(entry);
  if (!good(from.first(std::min(from.size(), kGroup * 2 * kVarintMax)))) return 0;
  Cursor entries(from);
  Cursor streams(streams_.subspan(start));
  uint64_t key = word(head);
  for (size_t i = 0; i < wanted; ++i) {
    const uint64_t distance = entries.varint();
    const Bytes stream = streams.take(entries.varint());
    if (entries.bad() || streams.bad() || (i != 0) != (distance != 0)) return i;
    key += distance;
    items[i] = {key, stream};
  }
  return wanted;
}

std::optional<Bytes> StreamTable::find(uint64_t key) const {
  if (count_ == 0) return std::nullopt;
  Item items[kGroup];
  const size_t found = read_group(group_of(key), items);
  for (size_t i = 0; i < found; ++i)
    if (items[i].key == key && good(items[i].stream)) return items[i].stream;
  return std::nullopt;
}

}  // namespace tracewell::timeline
