// Which threads of two traces are compared with each other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "timeline/diff/flow.h"
#include "timeline/diff/holes.h"

namespace tracewell::timeline {

/// Numbers of threads in FlowThreads; none = there is no such thread.
struct ThreadNumbers {
  std::optional<size_t> a, b;
};

/// The threads of both in the order of their first steps. Behind a hole that order tells nothing,
/// for the first steps of some may be missing: there, threads have the same ids if most have.
class ThreadPairs {
 public:
  /// All must outlive this.
  ThreadPairs(FlowThreads& threads_a, const HoleList& holes_a, FlowThreads& threads_b,
              const HoleList& holes_b)
      : threads_a_(threads_a), holes_a_(holes_a), threads_b_(threads_b), holes_b_(holes_b) {}

  /// None: there are no more. Reads on in the traces until it is known.
  Result<std::optional<ThreadNumbers>> next();

 private:
  Status match_rest();

  FlowThreads& threads_a_;
  const HoleList& holes_a_;
  FlowThreads& threads_b_;
  const HoleList& holes_b_;
  size_t number_ = 0;  // in front of the first hole
  std::optional<std::vector<ThreadNumbers>> rest_;
  size_t at_ = 0;      // in rest_
};

}  // namespace tracewell::timeline
