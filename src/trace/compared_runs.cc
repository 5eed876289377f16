#include "trace/compared_runs.h"

#include <future>
#include <utility>

#include "base/process/thread.h"
#include "trace/images/image_names.h"
#include "trace/told_problems.h"

namespace tracewell::trace {
namespace {

Result<ComparedRun> open_run(const InputOptions& options, const ImageOptions& images,
                             const Work& work) {
  ComparedRun out;
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(options, work));
  TW_ASSIGN_OR_RETURN(out.names, names_of_images(trace.source, images, work));
  TW_ASSIGN_OR_RETURN(out.steps, with_steps(std::move(trace), options, work));
  return out;
}

}  // namespace

Result<ComparedRuns> open_runs(const InputOptions& a, const InputOptions& b,
                               const ImageOptions& images, const Work& work) {
  if (a.path == "-" && b.path == "-")
    return {Errc::InvalidArgument,
            "both A and B are -, and standard input can be read once; give a file for one of them"};
  // Opening is a pass over the whole file; nothing is shared.
  auto opening = begin([&] { return open_run(b, {}, work); });
  auto opened = open_run(a, images, work);
  auto other = opening.get();
  ComparedRuns out;
  TW_ASSIGN_OR_RETURN(out.a, std::move(opened));
  TW_ASSIGN_OR_RETURN(out.b, std::move(other));
  tell_problems(out.a.steps.trace, a.path, work);
  tell_problems(out.b.steps.trace, b.path, work);
  return out;
}

}  // namespace tracewell::trace
