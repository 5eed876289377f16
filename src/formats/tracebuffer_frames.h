// The two rings of a trace buffer's file, which is not to be trusted: numbers in it may be
// anything, and may change while they are looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "ring/layout.h"

namespace tracewell::formats {

class TracebufferFrames {
 public:
  /// Borrows `file`. Errors: no such file, or one whose parts do not fit together. What is behind
  /// the end of a file that was cut is not there.
  static Result<TracebufferFrames> open(Bytes file);

  /// As it was at open().
  const ring::Header& header() const { return header_; }
  Endian endian() const { return header_.big_endian != 0 ? Endian::Big : Endian::Little; }
  /// Numbers of the frames that are there, as the header says: first()..next()-1.
  uint64_t first() const { return first_; }
  uint64_t next() const { return next_; }
  /// How long the file was; 0: it is as long as its header says.
  uint64_t whole_bytes() const { return whole_bytes_; }
  /// Is its record behind the end of a file that was cut? Then so are those of all frames before
  /// `behind`, which is set.
  bool is_cut_off(uint64_t number, uint64_t& behind) const;
  /// The header promised more frames than there are records.
  bool too_many() const { return too_many_; }

  /// Offset in the file of a frame's record.
  uint64_t record_offset(uint64_t number) const;
  /// The frame's record, if it is this frame's and its bytes, if there are any, begin with what it
  /// says.
  std::optional<ring::FrameRecord> record(uint64_t number) const;
  /// Copies the frame's data (without the header), up to where the file was cut.
  void data(const ring::FrameRecord& record, std::vector<uint8_t>& into) const;
  /// Has this frame been written over since? Only while the file is in use.
  bool overwritten(uint64_t number) const;
  /// The description that is current; empty when there is none.
  Bytes text() const { return text_; }
  uint64_t text_offset() const { return text_offset_; }

 private:
  explicit TracebufferFrames(Bytes file) : file_(file) {}
  const ring::Header& live() const { return *reinterpret_cast<const ring::Header*>(file_.data()); }
  Status take_header();
  void take_text();
  void take_numbers();
  size_t copy(uint64_t at, std::span<uint8_t> into) const;

  Bytes file_;
  ring::Header header_;
  uint64_t first_ = 0, next_ = 0;
  bool too_many_ = false;
  uint64_t whole_bytes_ = 0;
  uint64_t data_there_ = 0;  // bytes of the data ring
  Bytes text_;
  uint64_t text_offset_ = 0;
};

}  // namespace tracewell::formats
