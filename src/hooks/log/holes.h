// Zeros that need not be written: a file of holes is small, and what is copied out of it stays so.
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace tracewell::hooks {

/// The step in which files have holes.
constexpr size_t kHolePage = 4096;

struct ZeroRun {
  size_t at = 0;     // what is before it is to be written
  size_t bytes = 0;  // 0: there is none, and `at` is the end
};

/// The first run of zeros in `bytes` that has `pages` pages, counted from the begin of `bytes`, or
/// more. The last page may be a part of one. Looks at no page twice.
ZeroRun find_zeros(Bytes bytes, size_t pages);

}  // namespace tracewell::hooks
