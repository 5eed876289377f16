// Which function called which, and when.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/work.h"
#include "timeline/calls/call_tree.h"
#include "trace/step_at.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

struct CallsQuestion {
  uint64_t from = 0, to = UINT64_MAX;  // steps at which calls arrive, both included
  uint64_t depth = UINT64_MAX;         // the deepest; 0 = called by what ran already
  std::optional<uint64_t> thread;      // of all threads
};

struct FoundCall {
  timeline::Call call;
  std::optional<StepAt> caller;  // the thread's last step before the call's first one
};

/// Hands over calls in the order in which they arrive, until `visit` says false; how many calls
/// there are in the whole trace. InvalidArgument: there is no such thread or step.
Result<uint64_t> calls(const StepTrace& trace, const CallsQuestion& question,
                       const std::function<bool(const FoundCall&)>& visit, const Work& work);
/// Why there was none, though the trace has `all`: "none of the calls in this trace (7) is of
/// thread 3 and at depth 0".
std::string no_calls_text(const CallsQuestion& question, uint64_t all);

}  // namespace tracewell::trace
