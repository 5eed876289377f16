// Why two runs part: from the step that decided, back through what its inputs were made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "timeline/diff.h"

namespace tracewell::timeline {

/// The same steps of one thread in both traces end with these two.
struct SameRun {
  uint64_t tid_a = 0, tid_b = 0;
  uint64_t seq_a = 0, seq_b = 0;  // the last ones: they decided
  uint64_t steps = 1;             // how many there are
};

/// What was different in what the last steps read, then what made it different, and so on, at most
/// `look_back` steps back. Values that differ as the modules, stacks and heaps do are the same;
/// what `bases` does not know of those is added to it. Registers with an `ignored` name are not
/// looked at.
Result<std::vector<Cause>> find_causes(const DiffSide& a, const DiffSide& b, const SameRun& run,
                                       size_t look_back, Bases& bases,
                                       std::span<const std::string> ignored);

}  // namespace tracewell::timeline
