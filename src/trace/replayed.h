// A recorded trace, with all that it takes to serve it to a debugger.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"
#include "symbols/image_map.h"
#include "trace/file.h"
#include "trace/images/images.h"
#include "trace/step_history.h"

namespace tracewell::trace {

/// Either frames or executed instructions.
struct Replayed {
  std::shared_ptr<Source> frames;        // with frames(); the trace lives as long as this
  std::unique_ptr<StepHistory> history;  // there is a step
  std::vector<Note> notes;               // of its steps
  symbols::ImageMap images;
};

/// What open_replayed() would say at once: for whoever opens it later. Unsupported also of a trace
/// that cannot be served.
Status is_replayable(const InputOptions& input, const ImageOptions& images);

/// `fits` is asked of what the trace says of itself, before that which takes long. `work` is told
/// of problems and doubts. NotFound: there are no steps.
Result<Replayed> open_replayed(const InputOptions& input, const ImageOptions& images,
                               const HowToOpen& how,
                               const std::function<Status(const Catalog&)>& fits,
                               const Work& work);

}  // namespace tracewell::trace
