// Padding: what nobody executes, as it follows from all else that is known of code. To find it is
// as much work as the rest, and from one run to the next little of what it follows from changes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/murmur3.h"
#include "pads/range.h"

namespace tracewell::pads {

class Padding {
 public:
  /// What was marked with a flag of Sweep.
  struct Mark {
    Range range;
    uint8_t flag;
  };

  /// `known`: one byte of flags for each of the code, before any padding is marked.
  explicit Padding(Bytes known) : print_(murmur3_x64_128(known, 0)) {}

  /// A program can make code with the same print; what is written over it then is its own loss.
  bool follows_from(Bytes known) const { return murmur3_x64_128(known, 0) == print_; }
  /// One behind the other.
  void add(Range range, uint8_t flag) {
    if (!marks_.empty() && marks_.back().flag == flag && marks_.back().range.end == range.start)
      marks_.back().range.end = range.end;
    else marks_.push_back({range, flag});
  }
  const std::vector<Mark>& marks() const { return marks_; }
  uint64_t memory_bytes() const { return marks_.capacity() * sizeof(Mark); }

 private:
  std::array<uint64_t, 2> print_;
  std::vector<Mark> marks_;
};

}  // namespace tracewell::pads
