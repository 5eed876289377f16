// Draft: a plan in the making. It knows which bytes may be chosen, and places jumps among them one
// by one; each makes more bytes fixed for the next.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pads/code.h"
#include "pads/patches.h"
#include "pads/plan.h"

namespace tracewell::pads {

class Draft {
 public:
  explicit Draft(const Patches& patches) : code_(patches.code()), patches_(patches) {}

  /// How many bytes of the instruction at the range's start may be written, from there on: none
  /// that another plan has to do with, none behind its first that is entered (a jump behind a lock
  /// prefix), none that is to be kept.
  size_t writable(Range instruction) const;
  /// These may be chosen from now on. They count from the start, as far as writable().
  void release(Range instruction);
  /// Padding that is free, from its start; returns how many bytes.
  size_t release_padding(Range range);

  /// The byte is to have this value. False: it may not be chosen, and has another one.
  bool set(uint64_t address, uint8_t value);
  /// What will stand there; nullopt when that is still to be chosen, or lies outside of the code.
  std::optional<uint8_t> value(uint64_t address) const;
  bool chosen(uint64_t address) const;

  /// Writes prefixes and opcode of a jump whose pad is still to be found. False: there is no room.
  bool begin(const Jump& jump);
  /// begin(), where that was not yet done, and finds a place for the pad; the rest of `jump` is
  /// given but for `reach` and `pad`. A pad that may stand anywhere comes to where such pads are;
  /// for others the search begins at `from`. On failure, bytes may have been set.
  bool place(Jump jump, uint64_t from = 0);

  /// Of the jump that was placed last.
  uint64_t last_pad() const { return jumps_.back().pad; }

  /// The patch as it came out.
  Plan take(uint64_t site, Kind kind);

 private:
  bool is_released(uint64_t address) const;
  void rely(uint64_t address);
  uint64_t first_choice(const Pattern& reach) const;
  std::optional<uint64_t> find_pad(const Jump& jump, uint64_t from) const;

  const Code& code_;
  const Patches& patches_;
  std::vector<Range> released_;
  std::vector<std::pair<uint64_t, uint8_t>> set_;
  std::vector<uint64_t> relied_;
  std::vector<Jump> jumps_;
};

}  // namespace tracewell::pads
