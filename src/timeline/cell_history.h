// CellHistory: what a trace tells of eight bytes of memory at an address divisible by eight: who
// touched which of them when, and what they held. Contents are stored where they are news only.
//
// Accesses of one step are taken in their order. What the first of them that touches a byte found
// there is what it held before the step; what the last one left is what it held after. Bytes that
// were stored beside an operand tell what memory held, and nothing more.
//
//   if there are skips: u8 kHasSkips | kinds of access before the first one, varint skips · skips:
//   u32 step before, u32 offset in the entries, u64 value, u8 known, u8 lost, u8 kinds until the
//   next · entries: u8 head (see below), varint distance from the step before (the first entry is
//   of the stream's first step, and has none), u8 range if it is told there (start | size - 1
//   << 3), u8 sizes and bytes of old and new contents if there are any
//
//   head: kind 0..1 (0 nearby, 1 read, 2 write, 3 both) · old stored 2 · new stored 3 · lost 4 ·
//   range 5..6 (0 all, 1 low half, 2 high half, 3 told) · forgets 7, not of the first entry: since
//   the one before, something was lost that may have changed all bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"
#include "timeline/byte_chains.h"
#include "timeline/stream_table.h"

namespace tracewell::timeline {

constexpr uint64_t kCellBytes = 8;

/// Which bytes of a cell: bit i is the byte at address + i.
using ByteMask = uint8_t;

inline ByteMask byte_mask(unsigned start, unsigned size) {
  return static_cast<ByteMask>(((1u << size) - 1) << start);
}
/// All bits of the bytes.
uint64_t wide_mask(ByteMask bytes);

/// What is known of a cell at one moment; little-endian, as in memory.
struct CellContent {
  uint64_t value = 0;  // zeros where not known
  ByteMask known = 0;
  ByteMask lost = 0;   // overwritten with nobody knows what

  void set(ByteMask bytes, uint64_t from);
  void lose(ByteMask bytes);
};

/// One access, or the part of it that lies in this cell.
struct CellAccess {
  enum Kind : uint8_t { kNearby = 0, kRead = 1, kWrite = 2, kBoth = 3 };

  uint32_t step = 0;  // from where the segment begins
  Kind kind = kRead;
  uint8_t start = 0, size = 0;  // bytes
  std::optional<uint64_t> old_value, new_value;  // of the bytes, at their places in the cell

  ByteMask bytes() const { return byte_mask(start, size); }
};

/// The content of a cell as accesses pass by. Reader and writer both go by it.
class CellState {
 public:
  CellContent before;  // the step of the last access
  CellContent after;   // the accesses so far

  /// The bytes of an access that its step has not accessed before. (Nearby ones do not count.)
  ByteMask fresh(const CellAccess& access) const {
    const ByteMask touched = access.step == step_ ? touched_ : ByteMask{0};
    return access.bytes() & static_cast<ByteMask>(~touched);
  }
  /// `lost`: it leaves nobody knows what.
  void pass(const CellAccess& access, bool lost);
  uint32_t step() const { return step_; }

 private:
  uint32_t step_ = UINT32_MAX;  // of the last access
  ByteMask touched_ = 0;
};

/// A history that grows.
class CellLog {
 public:
  /// By ascending step. `loss`: from this step on, what was known before it does not hold.
  void add(ByteChains& chains, const CellAccess& access, uint32_t loss = 0);
  /// Is there nothing to tell?
  bool empty() const { return chain_.first == 0; }
  uint32_t first() const { return first_step_; }
  /// Of a stream that begins with first(). Replaces what `out` holds. `scratch` is any vector.
  void finish(ByteChains& chains, std::vector<uint8_t>& scratch, std::vector<uint8_t>& out);

 private:
  ByteChains::Chain chain_;
  uint32_t first_step_ = 0, last_step_ = 0;
  CellState state_;
};

/// Reads a history in place. Damage ends it.
class CellHistory {
 public:
  static constexpr size_t kStepsPerSkip = 64;

  explicit CellHistory(const Stream& stream);

  /// What is known or lost right before a step, by the accesses from step `since` up to there,
  /// between which nothing was lost.
  CellContent content_before(uint64_t step, uint64_t since) const;
  /// Puts into `content` what `wanted` bytes held at that step, by what the next steps before
  /// `until` that touch them found there. Returns those of which nothing was said; a later part of
  /// the trace may.
  ByteMask fill_back(uint64_t step, uint64_t until, ByteMask wanted, CellContent& content) const;
  /// The first step not less, or the last one less, with an access to one of the bytes of one of
  /// the kinds (bits of CellAccess::Kind).
  std::optional<uint32_t> next(uint64_t from, ByteMask bytes, uint8_t kinds) const;
  std::optional<uint32_t> last(uint64_t before, ByteMask bytes, uint8_t kinds) const;

  /// Goes from step to step.
  class Walk {
   public:
    /// To the next step that touches the cell; false when there is none.
    bool read();
    uint32_t step() const { return step_; }
    const CellState& state() const { return state_; }
    /// What the step changed, as far as anybody knows: contents, or that they are not known.
    ByteMask changed() const { return changed_; }
    bool touches(ByteMask bytes, uint8_t kinds) const {
      return ((kinds & CellAccess::kRead) != 0 && (read_ & bytes) != 0) ||
             ((kinds & CellAccess::kWrite) != 0 && (written_ & bytes) != 0);
    }

   private:
    friend class CellHistory;
    friend class CellLog;
    void begin(Bytes entries, uint32_t first);
    void decode(bool first);
    uint8_t kinds() const {
      return static_cast<uint8_t>((read_ != 0 ? CellAccess::kRead : 0) |
                                  (written_ != 0 ? CellAccess::kWrite : 0));
    }
    Cursor entries_{Bytes()};
    CellAccess next_;  // decoded, and not part of the step yet
    bool has_next_ = false, lost_ = false, forgets_ = false;
    uint32_t step_ = 0;
    const uint8_t* next_at_ = nullptr;  // where next_ was decoded from
    CellState state_;
    ByteMask changed_ = 0, read_ = 0, written_ = 0;
  };
  Walk start() const { return walk_at(0); }
  /// Calls `visit(step)` for each step from `from` to before `end` with such an access; ascending.
  template <class Visit>
  void each(uint64_t from, uint64_t end, ByteMask bytes, uint8_t kinds, Visit&& visit) const {
    for (size_t skip = skip_of(from); skip <= skip_count_; ++skip) {
      if ((kinds_of(skip) & kinds) == 0) continue;
      Walk walk = walk_at(skip);
      for (size_t i = 0; i < kStepsPerSkip && walk.read(); ++i) {
        if (walk.step() >= end) return;
        if (walk.step() >= from && walk.touches(bytes, kinds)) visit(walk.step());
      }
    }
  }

 private:
  size_t skip_of(uint64_t step) const;
  Walk walk_at(size_t skip) const;
  uint8_t kinds_of(size_t skip) const;

  uint8_t first_kinds_ = CellAccess::kBoth;  // of the accesses before the first skip
  uint32_t first_step_ = 0;
  size_t skip_count_ = 0;
  const uint8_t* skips_ = nullptr;
  Bytes entries_;
};

}  // namespace tracewell::timeline
