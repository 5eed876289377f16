// Skips: what the streams of an index begin with, so that one can be read from its middle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.h"

namespace tracewell::timeline {

/// Of `count` skips of `size` bytes each, which begin with a u32 and ascend by that: how many stand
/// in front of the first one of which `is_behind(number)` is true.
template <class IsBehind>
size_t skips_until(const uint8_t* skips, size_t count, size_t size, IsBehind&& is_behind) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (is_behind(load_uint(skips + middle * size, 4, Endian::Little)))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace tracewell::timeline
