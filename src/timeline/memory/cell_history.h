// CellHistory: what a trace tells of eight bytes of memory at an address divisible by eight: who
// touched which of them when, and what they held. Contents are stored where they are news only.
//
// Accesses of one step are taken in their order. What the first of them that touches a byte found
// there is what it held before the step; what the last one left is what it held after. Bytes that
// were stored beside an operand tell what memory held, and nothing more. What was told holds until
// the next opening (openings.h); behind it, that something is as it was is news again.
//
// There is a skip behind each kStepsPerSkip steps of the cell, if more follow; and behind a step
// with which the entries since the last skip are kPartBytes or more, as by thousands of accesses.
//
//   if there are skips: u8 kHasSkips | kinds of access before the first one, varint skips · skips:
//   u32 step before, u32 offset in the entries, u64 value, u8 known, u8 lost, u8 told, u8 left by
//   the step before, u8 kinds until the next · entries: u8 head (see below), varint distance from
//   the step before (the first entry is of the stream's first step, and has none), u8 range if it
//   is told there (start | size - 1 << 3), u8 sizes and bytes of old and new contents if there are
//   any; a size of 15: they are what was known before the opening, and have no bytes
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
#include "timeline/memory/cell_state.h"
#include "timeline/memory/openings.h"
#include "timeline/streams/byte_chains.h"
#include "timeline/streams/stream_table.h"

namespace tracewell::timeline {

/// A history that grows.
class CellLog {
 public:
  /// By ascending step. `loss`: from this step on, what was known before it does not hold.
  /// `opening`: the last one in front of the step.
  void add(ByteChains& chains, const CellAccess& access, uint32_t loss = 0,
           const std::optional<Opening>& opening = std::nullopt);
  /// Is there nothing to tell?
  bool empty() const { return chain_.first == 0; }
  uint32_t first() const { return first_step_; }
  /// Of a stream that begins with first(). Replaces what `out` holds. `scratch` is any vector.
  /// `openings`: of the segment, all of those that add() was told.
  void finish(ByteChains& chains, const SegmentOpenings& openings, std::vector<uint8_t>& scratch,
              std::vector<uint8_t>& out);

 private:
  void put(ByteChains& chains, const CellAccess& news, bool lost, bool forgets);

  ByteChains::Chain chain_;
  uint32_t first_step_ = 0, last_step_ = 0;
  CellState state_;
};

/// Reads a history in place. Damage ends it, and is told. What no build makes is damage: skips and
/// entries that do not ascend, and more between two skips than there can be. So a question about a
/// moment reads a few entries, and one that goes on reads each once.
class CellHistory {
 public:
  static constexpr size_t kStepsPerSkip = 64;
  static constexpr size_t kPartBytes = 4096;

  explicit CellHistory(const Stream& stream);

  /// What is known or lost right before a step, by the accesses from step `since` up to there,
  /// between which nothing was lost. `opening`: the last one that is not behind it. `own`: what the
  /// step itself finds there is known.
  CellContent content_before(uint64_t step, uint64_t since, const std::optional<Opening>& opening,
                             bool own = true) const;
  /// Puts into `content` what `wanted` bytes, which nobody has told since `opening`, held at that
  /// step, by what the next steps before `until` that touch them found there; no opening lies
  /// between. Returns those of which nothing was said; a later part of the trace may.
  ByteMask fill_back(uint64_t step, uint64_t until, const std::optional<Opening>& opening,
                     ByteMask wanted, CellContent& content) const;
  /// What the steps before `until` were the first to find in `wanted` bytes, and which ones. What
  /// was written first is not found.
  struct Found {
    CellContent content;
    std::array<uint32_t, kCellBytes> steps = {};
  };
  Found first_found(ByteMask wanted, uint64_t until) const;
  /// The last step before `step` that told what one of the bytes held, though it may have been told
  /// again until the next opening. `left`: what the step left there, or what it found.
  struct Told {
    uint32_t step = 0;
    bool left = false;
  };
  std::optional<Told> last_told(uint64_t step, ByteMask byte) const;
  /// The first step not less, or the last one less, with an access to one of the bytes of one of
  /// the kinds (bits of CellAccess::Kind, and kFoundChanged). Nothing is read from `end` on.
  std::optional<uint32_t> next(uint64_t from, ByteMask bytes, uint8_t kinds,
                               uint64_t end = UINT64_MAX) const;
  std::optional<uint32_t> last(uint64_t before, ByteMask bytes, uint8_t kinds) const;

  /// Goes from step to step.
  class Walk {
   public:
    /// To the next step that touches the cell; false when there is none.
    bool read();
    /// The step that read() comes to, if it comes to one.
    std::optional<uint32_t> next() const {
      return has_next_ ? std::optional(next_.step) : std::nullopt;
    }
    /// The last opening in front of that.
    void open(const std::optional<Opening>& opening) { state_.open(opening); }
    uint32_t step() const { return step_; }
    const CellState& state() const { return state_; }
    /// What the step changed, as far as anybody knows: contents, or that they are not known.
    ByteMask changed() const { return changed_; }
    /// What it found otherwise than it was known to be.
    ByteMask found_changed() const { return found_changed_; }
    /// Of what it told what it found, and what it left.
    ByteMask told_found() const { return told_found_; }
    ByteMask told_left() const { return state_.left_; }
    bool touches(ByteMask bytes, uint8_t kinds) const {
      return ((kinds & CellAccess::kRead) != 0 && (read_ & bytes) != 0) ||
             ((kinds & CellAccess::kWrite) != 0 && (written_ & bytes) != 0) ||
             ((kinds & CellAccess::kFoundChanged) != 0 && (found_changed_ & bytes) != 0);
    }

   private:
    friend class CellHistory;
    friend class CellLog;
    void begin(Bytes entries, uint32_t first);
    void decode(bool first);
    bool decode_entry(bool first);
    /// Bytes in front of what was not read yet.
    size_t used() const {
      return static_cast<size_t>((has_next_ ? next_at_ : entries_.position()) - begin_);
    }
    uint8_t kinds() const {
      return static_cast<uint8_t>((read_ != 0 ? CellAccess::kRead : 0) |
                                  (written_ != 0 ? CellAccess::kWrite : 0) |
                                  (found_changed_ != 0 ? CellAccess::kFoundChanged : 0));
    }
    Stream stream_;
    Cursor entries_{Bytes()};
    const uint8_t* begin_ = nullptr;
    uint32_t limit_ = UINT32_MAX;  // no step behind it
    CellAccess next_;  // decoded, and not part of the step yet
    bool has_next_ = false, lost_ = false, forgets_ = false;
    uint32_t step_ = 0;
    const uint8_t* next_at_ = nullptr;  // where next_ was decoded from
    CellState state_;
    ByteMask changed_ = 0, read_ = 0, written_ = 0, found_changed_ = 0, told_found_ = 0;
  };
  Walk start() const { return walk_on(0); }
  /// Calls `visit(step)` for each step from `from` to before `end` with such an access; ascending.
  template <class Visit>
  void each(uint64_t from, uint64_t end, ByteMask bytes, uint8_t kinds, Visit&& visit) const {
    for (size_t skip = skip_of(from); skip <= skip_count_; ++skip) {
      const auto part = part_of(skip);
      if (!part) return;
      if ((kinds_of(skip) & kinds) == 0) continue;
      Walk walk = walk_within(*part);
      for (size_t i = 0; i < kStepsPerSkip && walk.read(); ++i) {
        if (walk.step() >= end) return;
        if (walk.step() >= from && walk.touches(bytes, kinds)) visit(walk.step());
      }
    }
  }

 private:
  /// The entries from a skip to the next one.
  struct Part {
    size_t skip = 0;
    uint64_t begin = 0, end = 0;           // bytes of the entries
    uint32_t before = 0, last = UINT32_MAX;  // steps; of the last part, the last one is not known
  };
  size_t skip_of(uint64_t step) const;
  /// nullopt at damage. Parts that follow each other have no bytes and no steps in common.
  std::optional<Part> part_of(size_t skip) const;
  Walk walk_within(const Part& part) const;
  /// From there on, to the end of all.
  Walk walk_on(size_t skip) const;
  /// Reads what `walk`, which began behind the last skip in front of `step`, has in front of it.
  /// False at damage.
  bool go_to(uint64_t step, const std::optional<Opening>& opening, Walk& walk) const;
  uint8_t kinds_of(size_t skip) const;

  // Of the accesses before the first skip.
  uint8_t first_kinds_ = CellAccess::kBoth | CellAccess::kFoundChanged;
  Stream stream_;
  size_t skip_count_ = 0;
  const uint8_t* skips_ = nullptr;
  Bytes entries_;
};

}  // namespace tracewell::timeline
