// CellState: what is known of eight bytes of memory, and what accesses tell of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "timeline/memory/openings.h"

namespace tracewell::timeline {

constexpr uint64_t kCellBytes = 8;

/// Which bytes of a cell: bit i is the byte at address + i.
using ByteMask = uint8_t;

inline ByteMask byte_mask(unsigned start, unsigned size) {
  return static_cast<ByteMask>(((1u << size) - 1) << start);
}
inline constexpr std::array<uint64_t, 256> kWideMasks = [] {
  std::array<uint64_t, 256> masks = {};
  for (unsigned bytes = 0; bytes < 256; ++bytes)
    for (unsigned i = 0; i < kCellBytes; ++i)
      if (((bytes >> i) & 1) != 0) masks[bytes] |= uint64_t{0xff} << (8 * i);
  return masks;
}();

/// All bits of the bytes.
inline uint64_t wide_mask(ByteMask bytes) { return kWideMasks[bytes]; }

/// What is known of a cell at one moment; little-endian, as in memory.
struct CellContent {
  uint64_t value = 0;  // zeros where not known
  ByteMask known = 0;
  ByteMask told = 0;   // of these, since the last opening: the others were so in front of it
  ByteMask lost = 0;   // overwritten with nobody knows what

  void set(ByteMask bytes, uint64_t from) {
    const uint64_t mask = wide_mask(bytes);
    value = (value & ~mask) | (from & mask);
    known |= bytes;
    told |= bytes;
    lost &= static_cast<ByteMask>(~bytes);
  }
  void lose(ByteMask bytes);
};

/// Bytes that both know, each otherwise.
ByteMask differing(const CellContent& one, const CellContent& other);

/// One access, or the part of it that lies in this cell.
struct CellAccess {
  enum Kind : uint8_t { kNearby = 0, kRead = 1, kWrite = 2, kBoth = 3 };
  /// A third bit beside those of kRead and kWrite, where it is asked for: what an access, or bytes
  /// beside one, found there is not what was there before. Others have changed it.
  static constexpr uint8_t kFoundChanged = 4;

  uint32_t step = 0;  // from where the segment begins
  Kind kind = kRead;
  uint8_t start = 0, size = 0;  // bytes
  std::optional<uint64_t> old_value, new_value;  // of the bytes, at their places in the cell
  /// Instead of a value: that it is what is known of these bytes.
  bool old_holds = false, new_holds = false;
  bool leaves = false;  // of an instruction behind which there is an opening (CellLog only)

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
  /// The last opening in front of the step that comes next, or of the moment that is asked about.
  void open(const std::optional<Opening>& opening) {
    if (!opening || step_ == UINT32_MAX || step_ >= opening->moment) return;
    const bool stays = opening->within && uint64_t{step_} + 1 == opening->moment;
    after.told = stays ? after.told & left_ : 0;
  }
  /// `lost`: it leaves nobody knows what.
  void pass(const CellAccess& access, bool lost);
  uint32_t step() const { return step_; }

 private:
  friend class CellHistory;
  friend class CellLog;
  uint32_t step_ = UINT32_MAX;  // of the last access
  ByteMask touched_ = 0;
  ByteMask left_ = 0;  // bytes of which the step told what it left there
};

}  // namespace tracewell::timeline
