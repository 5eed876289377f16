// StreamTable: many small streams of bytes about steps, each under a 64-bit key, in one run of
// bytes that is looked up in place. All the lists of an index are kept in such tables, most of them
// with less in them than a pointer takes: what they have in common is said once a group.
//
//   varint keys · groups, if there are more keys than kGroup: u64 first key, u40 where it begins,
//   from the first one · each group: varint least first step · its keys: varint distance from the
//   key before (of the table's first one: from 0; of another group's first one: none), varint size
//   of the stream, varint first step, from the least · its streams
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "timeline/index/sums.h"

namespace tracewell::timeline {

/// Bytes that belong one behind the other. They may be large, so nobody joins them.
using Pieces = std::vector<std::vector<uint8_t>>;
uint64_t size_of(const Pieces& pieces);

/// What is told of a key, from a step on.
struct Stream {
  uint32_t first = 0;  // step
  Bytes bytes;
  const Sums* sums = nullptr;  // told when the bytes are not what a build makes; may be null

  /// Returns false.
  bool tell_damage() const {
    if (sums != nullptr) sums->tell_damage();
    return false;
  }
};

class StreamTableWriter {
 public:
  /// `streams_max`: that the streams will be no larger together, in bytes; it saves moving them.
  explicit StreamTableWriter(size_t streams_max = 0) { bodies_.reserve(streams_max); }
  /// By ascending key, each once.
  void add(uint64_t key, const Stream& stream);
  /// The table. The writer is of no use then.
  Pieces finish();

 private:
  struct Entry {
    uint64_t distance = 0, size = 0;
    uint32_t first = 0;
  };
  void end_group();

  uint64_t count_ = 0;
  uint64_t last_key_ = 0;
  std::vector<uint8_t> groups_, bodies_;
  std::vector<Entry> entries_;     // of the group that is open
  std::vector<uint8_t> streams_;   // of it
};

/// Over bytes that nobody vouches for: whatever they are, what is found lies inside them, and no
/// two streams in the same bytes. Where there are sums, nothing is found in bytes that do not agree
/// with these.
class StreamTable {
 public:
  struct Item {
    uint64_t key = 0;
    Stream stream;
  };

  StreamTable() = default;
  explicit StreamTable(Bytes table, const Sums* sums = nullptr);

  uint64_t count() const { return count_; }
  /// All streams together are no larger.
  size_t streams_max() const { return bodies_.size(); }
  std::optional<Stream> find(uint64_t key) const;
  /// The same of a stream that is large: whether it agrees with its sums is left to who reads it.
  std::optional<Stream> find_unseen(uint64_t key) const;
  /// Calls `visit(Item)` for keys from `from` to `to` (inclusive), ascending, until it says false.
  template <class Visit>
  void each(uint64_t from, uint64_t to, Visit&& visit) const {
    if (count_ == 0) return;
    Group group = group_of(from);
    std::optional<uint64_t> last;
    for (; group.number < groups_; ++group.number) {
      Item items[kGroup];
      const size_t found = read_group(group.number, group.begin, bodies_.size(), items);
      if (found != 0 && last && items[0].key <= *last) return torn();
      for (size_t i = 0; i < found; ++i) {
        last = items[i].key;
        if (items[i].key > to) return;
        if (items[i].key < from || !good(items[i].stream.bytes)) continue;
        if (!visit(items[i])) return;
      }
    }
  }

 private:
  friend class StreamTableWriter;
  static constexpr size_t kGroup = 32, kOffsetBytes = 5, kGroupBytes = 8 + kOffsetBytes;
  /// Its bytes in the bodies lie between the two.
  struct Group {
    uint64_t number = 0, begin = 0, end = 0;
  };
  Group group_of(uint64_t key) const;
  size_t read_group(uint64_t group, uint64_t& begin, uint64_t end, Item (&items)[kGroup]) const;
  /// Whoever has made the sums has not made a table: it counts as damage.
  void torn() const;
  bool good(Bytes part) const { return timeline::good(sums_, part); }

  const Sums* sums_ = nullptr;
  uint64_t count_ = 0, groups_ = 0;
  const uint8_t* heads_ = nullptr;
  Bytes bodies_;
};

}  // namespace tracewell::timeline
