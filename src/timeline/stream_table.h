// StreamTable: many small byte streams, each under a 64-bit key, in one run of bytes that is looked
// up in place. All the lists of an index are kept in such tables.
//
//   u64 keys · u64 bytes of streams · groups of kGroup keys: u64 first key, u64 where in the
//   entries, u64 where in the streams · entries: varint distance from the key before it, varint
//   size of its stream · streams
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "timeline/sums.h"

namespace tracewell::timeline {

/// Bytes that belong one behind the other. They may be large, so nobody joins them.
using Pieces = std::vector<std::vector<uint8_t>>;
uint64_t size_of(const Pieces& pieces);

class StreamTableWriter {
 public:
  /// `streams_max`: that the streams will be no larger together, in bytes; it saves moving them.
  explicit StreamTableWriter(size_t streams_max = 0) { streams_.reserve(streams_max); }
  /// By ascending key, each once.
  void add(uint64_t key, Bytes stream);
  /// The table. The writer is of no use then.
  Pieces finish();

 private:
  uint64_t count_ = 0;
  uint64_t last_key_ = 0;
  std::vector<uint64_t> groups_;
  std::vector<uint8_t> entries_;
  std::vector<uint8_t> streams_;
};

/// Over bytes that nobody vouches for: whatever they are, what is found lies inside them. Where
/// there are sums, nothing is found in bytes that do not agree with these.
class StreamTable {
 public:
  struct Item {
    uint64_t key = 0;
    Bytes stream;
  };

  StreamTable() = default;
  explicit StreamTable(Bytes table, const Sums* sums = nullptr);

  uint64_t count() const { return count_; }
  std::optional<Bytes> find(uint64_t key) const;
  /// Calls `visit(Item)` for keys from `from` to `to` (inclusive), ascending, until it says false.
  template <class Visit>
  void each(uint64_t from, uint64_t to, Visit&& visit) const {
    if (count_ == 0) return;
    for (uint64_t group = group_of(from); group < groups_; ++group) {
      Item items[kGroup];
      const size_t found = read_group(group, items);
      for (size_t i = 0; i < found; ++i) {
        if (items[i].key > to) return;
        if (items[i].key < from || !good(items[i].stream)) continue;
        if (!visit(items[i])) return;
      }
    }
  }

 private:
  friend class StreamTableWriter;
  static constexpr size_t kGroup = 16, kHeadBytes = 16, kGroupBytes = 24;
  uint64_t group_of(uint64_t key) const;
  size_t read_group(uint64_t group, Item (&items)[kGroup]) const;
  bool good(Bytes part) const { return sums_ == nullptr || sums_->good(part); }

  const Sums* sums_ = nullptr;
  uint64_t count_ = 0, groups_ = 0;
  const uint8_t* heads_ = nullptr;
  Bytes entries_, streams_;
};

}  // namespace tracewell::timeline
