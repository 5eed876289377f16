#include "trace/open_steps.h"

#include <utility>

#include "base/text/text.h"
#include "timeline/store/step_store.h"

namespace tracewell::trace {

Result<OpenSteps> with_steps(OpenTrace trace, const InputOptions& options, const Work& work) {
  OpenSteps out;
  out.trace = std::move(trace);
  out.source = out.trace.source.get();
  if (out.source->steps() == nullptr) {
    auto stored = timeline::StepStore::read(*out.source, work);
    if (!stored) return std::move(stored).error().within(printable(options.path));
    out.stored = *std::move(stored);
    out.source = out.stored.get();
  }
  if (options.strict) TW_RETURN_IF_ERROR(out.trace.problems->strict());
  return out;
}

}  // namespace tracewell::trace
