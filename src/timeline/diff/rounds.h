// How often a loop ran in each of two runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/flow.h"
#include "timeline/diff/meet.h"

namespace tracewell::timeline {

class RoundCounter {
 public:
  /// Threads with these numbers.
  RoundCounter(FlowThreads& a, FlowThreads& b, size_t number_a, size_t number_b)
      : threads_a_(a), threads_b_(b), number_a_(number_a), number_b_(number_b) {}

  /// A step in front of the loop in each run, or the first one in it that was looked at.
  struct Since {
    std::optional<uint64_t> a, b;
  };

  /// Fills in what `difference` says of the loop. The flows stand where the runs part; what is
  /// further back than they remember is read again, some million steps at most.
  Result<Since> count(const Meeting& meeting, ThreadFlow& a, ThreadFlow& b,
                      Difference& difference);

 private:
  struct Count {
    uint64_t rounds = 0;
    bool exact = false;
    std::optional<uint64_t> since;
  };
  struct Loop {
    uint64_t head = 0, latch = 0;
    size_t more = 0;  // steps in front of the flow that are still of it
    /// The last of them, when they are too many to be kept.
    std::optional<uint64_t> far_last;
  };
  static Result<Count> count_side(FlowThreads& threads, size_t number, ThreadFlow& flow,
                                  const Loop& loop);

  FlowThreads& threads_a_;
  FlowThreads& threads_b_;
  size_t number_a_, number_b_;
};

}  // namespace tracewell::timeline
