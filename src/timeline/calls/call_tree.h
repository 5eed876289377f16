// Call trees: which function called which, when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/work.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {

/// One call of a function. What was running when the recording began is in no tree.
struct Call {
  static constexpr size_t kNoParent = std::numeric_limits<size_t>::max();

  uint64_t tid = 0;
  uint64_t function = 0;  // where the call went
  uint64_t back = 0;      // where its return is to go
  uint64_t first = 0;     // step: the first in the function
  uint64_t end = 0;       // step: the first behind its return, or its thread's last of the session
  uint32_t depth = 0;     // 0 = called by what was running already
  size_t parent = kNoParent;
  bool returned = false;
};

/// All calls, in the order in which they arrive, as a machine::CallStack follows them. What comes
/// behind a loss has arrived from nowhere. Of work that is stopped, those until then.
std::vector<Call> call_tree(const Timeline& timeline, const Work& work = {});

}  // namespace tracewell::timeline
