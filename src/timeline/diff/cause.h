// Why two runs part: from the step that decided, back through what its inputs were made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "timeline/diff/diff.h"

namespace tracewell::timeline {

/// A difference behind which the runs have met again.
struct Met {
  uint64_t same = 0;              // steps in front of it that are the same, up to an earlier one
  uint64_t own_a = 0, own_b = 0;  // steps that only one run has
  std::optional<size_t> difference;  // its number; none = nobody was told of it
};

/// The same steps of one thread in both traces end with these two.
struct SameRun {
  uint64_t tid_a = 0, tid_b = 0;
  uint64_t seq_a = 0, seq_b = 0;  // the last ones: they decided
  uint64_t steps = 1;             // how many there are
  std::span<const Met> met;       // in front of these; the last one is the nearest
  std::span<const Difference> told;  // of the thread, so far
};

/// What was different in what the last steps read, then what made it different, and so on, at most
/// `look_back` steps back, also in front of earlier differences. What was a cause of one of those,
/// or was written by steps that only one run has there, is told as that. Values that differ as the
/// modules, stacks and heaps do are the same; what `bases` does not know of those is added to it.
/// Registers with an `ignored` name are not looked at.
Result<std::vector<Cause>> find_causes(const DiffSide& a, const DiffSide& b, const SameRun& run,
                                       size_t look_back, Bases& bases,
                                       std::span<const std::string> ignored);

}  // namespace tracewell::timeline
