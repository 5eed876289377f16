// One thread of two traces from its beginning to its end: what is the same, and what is not.
#pragma once

#include "base/result.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/flow.h"
#include "timeline/diff/holes.h"
#include "timeline/diff/registers.h"
#include "timeline/diff/threads.h"

namespace tracewell::timeline {

/// One of the two traces, and what all threads share of it.
struct Trace {
  Trace(const DiffSide& side, const Work& work)
      : side(side), threads(side.steps, work), holes(side.steps) {}
  const DiffSide& side;
  FlowThreads threads;
  HoleList holes;
};

/// Both have a thread with that number. What is found out about modules is added to `bases`, what
/// there is to be told to `out`. `registers`: of the two traces. `stage`: steps of A.
Status compare_thread(Trace& a, Trace& b, const DiffOptions& options, ThreadNumbers numbers,
                      Bases& bases, RegisterPairs& registers, Stage& stage, ThreadDiff& out);

}  // namespace tracewell::timeline
