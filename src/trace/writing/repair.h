// What can be saved of a damaged trace, written in its own format.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "formats/format.h"
#include "model/problem.h"
#include "model/work.h"
#include "trace/file.h"

namespace tracewell::trace {

struct Repair {
  InputOptions input;
  std::string output;  // "-" is standard output
  formats::SaveOptions save = {};
};

/// Reads the trace to its end, and writes what it gives; what was found wrong with it. `work` is
/// told what the output lacks besides. Unsupported: its format cannot be written.
Result<std::unique_ptr<ProblemLog>> repair(const Repair& wanted, const Work& work);

}  // namespace tracewell::trace
