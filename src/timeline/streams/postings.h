// Postings: an ascending list of numbers (of steps, counted from where a segment begins), small
// when they come at short distances or in runs.
//
//   nothing, if there is only the stream's first number; else varint skips · if there are any:
//   varint count · skips: u32 number behind the element before, u32 offset in the pairs, u32 count
//   before · pairs: varint (distance << 1 | run), varint length - 2 if run
//
// A distance counts from behind the element before, the first one from the stream's first number.
// There is a skip for each kPairsPerSkip pairs, but for the first, so that one can be looked for
// without reading all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"
#include "timeline/streams/byte_chains.h"
#include "timeline/streams/stream_table.h"

namespace tracewell::timeline {

/// A list that grows. Its bytes are in a ByteChains, which is the same for all lists.
class PostingList {
 public:
  /// By ascending `number`; the last one again does nothing.
  void add(ByteChains& chains, uint32_t number) {
    if (number < end_ && count_ != 0) return;
    if (number == end_ && count_ != 0) {
      ++end_;
    } else {
      if (count_ == 0) first_ = done_ = number;
      flush(chains);
      begin_ = number;
      end_ = number + 1;
    }
    ++count_;
  }
  /// The same of a run, from `first` to before `end`; what of it was added is left out.
  void add_run(ByteChains& chains, uint32_t first, uint32_t end);
  uint64_t count() const { return count_; }
  uint32_t first() const { return first_; }
  /// Ends the list, of which there is something; replaces what `out` holds: of a stream that begins
  /// with first(). `scratch` is any vector.
  void finish(ByteChains& chains, std::vector<uint8_t>& scratch, std::vector<uint8_t>& out);

 private:
  void flush(ByteChains& chains);

  ByteChains::Chain chain_;
  uint32_t count_ = 0;
  uint32_t first_ = 0;
  uint32_t done_ = 0;             // behind what is written
  uint32_t begin_ = 0, end_ = 0;  // of the run that is not
};

/// Reads a list in place. Damage ends it, and is told. What no build makes is damage: so a question
/// reads a few pairs, whatever skips say.
class Postings {
 public:
  static constexpr size_t kPairsPerSkip = 64;

  Postings() = default;
  explicit Postings(const Stream& stream);

  uint64_t count() const { return skip_count_ != 0 ? count_ : counted(); }
  /// Comes across all damage that questions may come across.
  void look_over() const;
  /// The first number that is not less.
  std::optional<uint32_t> next(uint64_t from) const;
  /// The last number that is less.
  std::optional<uint32_t> last(uint64_t before) const;
  bool contains(uint32_t number) const { return next(number) == number; }
  /// Calls `visit(first, behind)` for each run, until it says false.
  template <class Visit>
  void runs(uint64_t from, Visit&& visit) const {
    Walk walk = go_to(from);
    while (walk.found) {
      if (!visit(walk.begin, walk.end)) return;
      walk.found = read(walk);
    }
  }

 private:
  struct Walk {
    Cursor pairs{Bytes()};
    uint64_t begin = 0, end = 0;
    bool found = false;
  };
  size_t skip_of(uint64_t number) const;
  Walk walk_at(size_t skip) const;
  /// To the first pair that ends behind a number, if one is found.
  Walk go_to(uint64_t number) const;
  bool read(Walk& walk) const;
  uint64_t counted() const;

  Stream stream_;
  uint64_t count_ = 0;
  size_t skip_count_ = 0;
  const uint8_t* skips_ = nullptr;
  Bytes pairs_;
};

}  // namespace tracewell::timeline
