// The frames of a trace buffer's file of version 1 (ring/layout_1.h), which is not to be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tracebuffer/parts.h"
#include "ring/layout_1.h"

namespace tracewell::formats {

class TracebufferFrames : public TracebufferParts {
 public:
  using FrameRecord = ring::version_1::FrameRecord;
  /// Borrows `file`. Errors: no such file, or one whose parts do not fit together.
  static Result<TracebufferFrames> open(Bytes file);

  /// Numbers of the frames that are there, as the header says: first()..next()-1.
  uint64_t first() const { return first_; }
  uint64_t next() const { return next_; }
  /// Is its record behind the end of a file that was cut? Then so are those of all frames before
  /// `behind`, which is set.
  bool is_cut_off(uint64_t number, uint64_t& behind) const;
  /// The header promised more frames than there are records.
  bool too_many() const { return too_many_; }

  /// Offset in the file of a frame's record.
  uint64_t record_offset(uint64_t number) const;
  /// The frame's record, if it is this frame's and its bytes, if there are any, begin with what it
  /// says.
  std::optional<FrameRecord> record(uint64_t number) const;
  /// Copies the frame's data (without the header), up to where the file was cut.
  void data(const FrameRecord& record, std::vector<uint8_t>& into) const;
  /// Has this frame been written over since? Only while the file is in use.
  bool overwritten(uint64_t number) const;

 private:
  explicit TracebufferFrames(Bytes file) : TracebufferParts(file) {}
  void take_numbers();

  uint64_t first_ = 0, next_ = 0;
  bool too_many_ = false;
};

}  // namespace tracewell::formats
