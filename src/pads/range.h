// Parts of a program's memory.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace tracewell::pads {

struct Range {
  uint64_t start = 0, end = 0;
  bool holds(uint64_t address) const { return address >= start && address < end; }
  bool meets(const Range& other) const { return start < other.end && other.start < end; }
  bool operator==(const Range&) const = default;
};

/// Bytes of the program and where it has them.
struct Area {
  uint64_t address = 0;
  Bytes bytes;
};

}  // namespace tracewell::pads
