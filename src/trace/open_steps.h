// A trace of executed instructions with random access, whatever its format has.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/stream.h"
#include "model/work.h"
#include "timeline/diff/diff.h"
#include "trace/file.h"

namespace tracewell::trace {

/// Nothing of it changes once it is open: any number of threads may ask steps().
struct OpenSteps {
  OpenTrace trace;
  std::unique_ptr<Source> stored;  // when the format has no random access: all of it, in memory
  Source* source = nullptr;        // one of the two, with steps()

  const Catalog& catalog() const { return source->catalog(); }
  const StepIndex& steps() const { return *source->steps(); }
  /// For timeline::diff(), as long as this lives.
  timeline::DiffSide side() const { return {steps(), catalog()}; }
};

/// Unsupported when the trace is not one of executed instructions.
Result<OpenSteps> with_steps(OpenTrace trace, const InputOptions& options, const Work& work);

}  // namespace tracewell::trace
