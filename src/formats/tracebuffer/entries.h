// The frames of a trace buffer's file of version 2 (ring/layout.h), which is not to be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tracebuffer/parts.h"

namespace tracewell::formats {

/// Positions are bytes of all that were ever written to the data ring.
class TracebufferEntries : public TracebufferParts {
 public:
  struct Entry : ring::FrameEntry {
    ring::FrameShape shape;
    uint64_t pc = 0;
    uint32_t head_bytes = 0;  // in front of its blocks
  };
  /// Borrows `file`. Errors: no such file, or one whose parts do not fit together.
  static Result<TracebufferEntries> open(Bytes file);

  /// Frames are between these, as the header says.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  /// The header promised more of them than the ring holds.
  bool too_many() const { return too_many_; }
  uint64_t offset_of(uint64_t at) const;
  /// What makes sense as a frame. nullopt: there is none.
  std::optional<Entry> entry(uint64_t at) const;
  /// Copies a frame's blocks, up to where the file was cut.
  void blocks(const Entry& entry, uint64_t at, std::vector<uint8_t>& into) const;
  /// Where the file was cut the ring has nothing up to this position; `at` itself: it has.
  uint64_t behind_cut(uint64_t at) const;
  /// begin(), as it is by now.
  uint64_t begin_now() const { return ring::load(live().begin); }
  /// Has what was there been written over since? Only while the file is in use.
  bool overwritten(uint64_t at) const;

 private:
  explicit TracebufferEntries(Bytes file) : TracebufferParts(file) {}
  void take_numbers();

  uint64_t begin_ = 0, end_ = 0, shapes_ = 0;
  bool too_many_ = false;
};

}  // namespace tracewell::formats
