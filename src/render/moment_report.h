// How `tracewell at` shows a moment of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/work.h"
#include "trace/questions/moment.h"

namespace tracewell::render {

struct MomentQuestion {
  bool thread = false;     // a thread was asked for, so it is named
  bool registers = false;  // they are shown anyway where nothing else is asked
  std::vector<std::string> names;   // of registers; only these, then
  std::vector<std::string> memory;  // ADDR[,LEN], a name, or an address by registers
  bool stack = false;
  uint64_t frames = 64;  // of the stack, at most
};

/// Whole, as text or as a JSON object, with the last line's end. `work` is told of memory that
/// nobody knows. InvalidArgument: what was asked is not there.
Result<std::string> moment_report(const trace::StepTrace& trace, trace::Moment moment,
                                  const MomentQuestion& question, bool json, const Work& work);

}  // namespace tracewell::render
