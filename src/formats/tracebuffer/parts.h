// The parts of a trace buffer's file, which is not to be trusted: numbers in it may be anything,
// and may change while they are looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "ring/layout.h"

namespace tracewell::formats {

class TracebufferParts {
 public:
  /// As it was when the file was opened.
  const ring::Header& header() const { return header_; }
  Endian endian() const { return header_.big_endian != 0 ? Endian::Big : Endian::Little; }
  /// How long the file was; 0: it is as long as its header says.
  uint64_t whole_bytes() const { return whole_bytes_; }
  /// The description that is current; empty when there is none.
  Bytes text() const { return text_; }
  uint64_t text_offset() const { return text_offset_; }

 protected:
  // Longer than any file, so that sums of what a header says stay far from 2^64.
  static constexpr uint64_t kFileBytesMax = uint64_t{1} << 60;

  explicit TracebufferParts(Bytes file) : file_(file) {}
  /// Errors: no such file, one of another version, or one whose parts do not fit together. What is
  /// behind the end of a file that was cut is not there.
  Status take_parts(uint32_t version, size_t slot_bytes);
  const ring::Header& live() const { return *reinterpret_cast<const ring::Header*>(file_.data()); }
  /// From byte `at` of all that were ever written to the data ring: as much as there is in front
  /// of where the file was cut. `into` is not longer than the ring.
  size_t copy(uint64_t at, std::span<uint8_t> into) const;
  Bytes file() const { return file_; }
  uint64_t data_there() const { return data_there_; }

 private:
  Status take_header(uint32_t version, size_t slot_bytes);
  void take_text(), find_text();

  Bytes file_;
  ring::Header header_;
  uint64_t whole_bytes_ = 0;
  uint64_t data_there_ = 0;  // bytes of the data ring
  Bytes text_;
  uint64_t text_offset_ = 0;
  /// text_, where it is not so long that it stays where it is.
  std::shared_ptr<const std::vector<uint8_t>> copied_text_;
};

/// The version that a file says it has; nullopt: the file ends inside its header.
std::optional<uint32_t> tracebuffer_version(Bytes file);

}  // namespace tracewell::formats
