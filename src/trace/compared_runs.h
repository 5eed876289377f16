// Two runs of a program, to be compared.
#pragma once

#include "base/result.h"
#include "model/work.h"
#include "trace/file.h"
#include "trace/images/address_names.h"
#include "trace/images/images.h"
#include "trace/open_steps.h"

namespace tracewell::trace {

struct ComparedRun {
  OpenSteps steps;
  AddressNames names;
};
struct ComparedRuns {
  ComparedRun a, b;
};

/// Opens both at once. The images are A's; B may be of another build. `work` is told of problems of
/// the traces, and used by two threads. InvalidArgument: both are standard input.
Result<ComparedRuns> open_runs(const InputOptions& a, const InputOptions& b,
                               const ImageOptions& images, const Work& work);

}  // namespace tracewell::trace
