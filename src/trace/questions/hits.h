// How often each instruction, or each basic block, was executed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "model/work.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

struct HitsQuestion {
  bool blocks = false;      // instructions that are always executed one behind the other, together
  bool by_address = false;  // ascending; false: the most frequent first
};

struct HitCount {
  uint64_t address = 0, count = 0;
  uint64_t size_bytes = 0, instructions = 1;  // of a block; the size is 0 where none was asked for
  std::vector<uint8_t> opcode;  // of the (first) instruction, as it was executed last; may be empty
};

/// Until `visit` says false; how many there are in all.
Result<uint64_t> hits(const StepTrace& trace, const HitsQuestion& question,
                      const std::function<bool(const HitCount&)>& visit, const Work& work);

}  // namespace tracewell::trace
