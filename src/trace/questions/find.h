// Who executed, touched or changed something in a trace of steps, and when.
#pragma once

#include <functional>

#include "base/result.h"
#include "model/work.h"
#include "trace/questions/found.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

/// Hands over hits one by one, in order, by the caller's thread, until `visit` says false. Any
/// number of threads may ask one trace. InvalidArgument: the trace has no such register, or the
/// question cannot be asked backwards.
Status find(const StepTrace& trace, const FindQuestion& question,
            const std::function<bool(const Hit&)>& visit, const Work& work);

}  // namespace tracewell::trace
