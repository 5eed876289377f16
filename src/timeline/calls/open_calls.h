// Open calls: those a thread is inside of at a step, without looking at what came long before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "timeline/index/index_file.h"

namespace tracewell::timeline {

/// As in a Call (call_tree.h).
struct OpenCall {
  uint64_t first = 0;     // step: the first in the function
  uint64_t function = 0;  // where the call went
  uint64_t back = 0;      // where its return is to go
};
struct OpenCalls {
  uint64_t depth = 0;           // how many there are
  std::vector<OpenCall> calls;  // the innermost ones, these first
};

/// Of thread `tid`, those with first <= `step`, which are those of call_tree() that have not ended
/// by then; `most` of them at most. There is such a step. The time it takes depends on `most`, not
/// on how many steps or calls there are.
OpenCalls open_calls(const Index& index, uint64_t step, uint64_t tid, size_t most);

}  // namespace tracewell::timeline
