// The registers of any thread at any step.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "model/registers.h"
#include "model/stream.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {

/// What thread `tid` had in its registers before step `at` (steps() = behind the last one). A
/// thread that does not run keeps what its last step left; where nobody saw that, it is what its
/// next step finds. What is not known is not valid, and so is everything of a thread that has not
/// run yet. `source` is the trace with that timeline; it is left anywhere.
Result<RegisterState> registers_at(Source& source, const Timeline& timeline, uint64_t at,
                                   uint64_t tid);

/// Step `seq` itself, in `batch`. InvalidArgument when there is none.
Result<const Event*> read_step(Source& source, uint64_t seq, Batch& batch);

}  // namespace tracewell::timeline
