#include "trace/replayed.h"

#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/images/image_code.h"
#include "trace/step_trace.h"
#include "trace/told_problems.h"

namespace tracewell::trace {

Status is_replayable(const InputOptions& input, const ImageOptions& images) {
  TW_ASSIGN_OR_RETURN(const formats::Format* const format, is_openable(input));
  if (format != nullptr && format->name == "hooklog")
    return {Errc::Unsupported,
            fmt::format("{}: replay takes frames or executed instructions; this has hooks",
                        printable(input.path))};
  return are_openable(images);
}

Result<Replayed> open_replayed(const InputOptions& input, const ImageOptions& images,
                               const HowToOpen& how,
                               const std::function<Status(const Catalog&)>& fits,
                               const Work& work) {
  Replayed out;
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(input, work, how));
  if (trace.source->frames() != nullptr) {
    tell_problems(trace, input.path, work);
    const auto open = std::make_shared<OpenTrace>(std::move(trace));
    out.frames = std::shared_ptr<Source>(open, open->source.get());
    TW_RETURN_IF_ERROR(fits(out.frames->catalog()));
    TW_ASSIGN_OR_RETURN(out.images, place_images(out.frames->catalog(), images, work));
    return out;
  }
  TW_RETURN_IF_ERROR(fits(trace.source->catalog()));
  // What the user may have mistyped comes before what takes long.
  TW_ASSIGN_OR_RETURN(out.images, place_images(trace.source->catalog(), images, work));
  trace.source = with_image_code(std::move(trace.source), out.images, work);
  TW_ASSIGN_OR_RETURN(StepTrace steps, index_step_trace(std::move(trace), input, work, how));
  tell_problems(steps.trace, input.path, work);
  read_notes(steps, input.path, work);
  out.notes = std::move(steps.notes);
  TW_ASSIGN_OR_RETURN(StepHistory opened, StepHistory::open(std::move(steps)));
  out.history = std::make_unique<StepHistory>(std::move(opened));
  if (out.history->count() == 0) return {Errc::NotFound, "the trace has no steps"};
  return out;
}

}  // namespace tracewell::trace
