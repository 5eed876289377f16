// Padding: what nobody executes, as it follows from all else that is known of code. To find it is
// as much work as the rest, and from one run to the next little of what it follows from changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/zeroed.h"

namespace tracewell::pads {

class Padding {
 public:
  /// `before` and `found`: one byte of flags for each of the code, without and with it.
  Padding(ZeroedBytes before, Bytes found) : before_(std::move(before)), found_(found.size()) {
    found_.put(0, found);
  }
  bool follows_from(Bytes known) const { return std::ranges::equal(before_.bytes(), known); }
  Bytes found() const { return found_.bytes(); }
  uint64_t memory_bytes() const { return before_.size() + found_.size(); }

 private:
  ZeroedBytes before_, found_;
};

}  // namespace tracewell::pads
