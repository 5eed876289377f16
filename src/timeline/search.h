// Searching memory through all of time.
#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "model/work.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {

/// Memory at `address` held the bytes before each step from `first` to `last` (steps() = behind the
/// last one), all of them at once; before the step before that, and behind, it did not, or nobody
/// knows.
struct BytesHit {
  uint64_t address = 0;
  uint64_t first = 0, last = 0;
  /// In front of some of these steps, some of the bytes were only inferred, or kept (ByteState).
  bool inferred = false, kept = false;
};

/// By session, then by address, then by step, until `visit` says false. `pattern` has one byte at
/// least. Takes time in proportion to what the trace tells of memory; the one error is that nobody
/// waits.
Status find_bytes(const Timeline& timeline, Bytes pattern,
                  const std::function<bool(const BytesHit&)>& visit, const Work& work = {});

}  // namespace tracewell::timeline
