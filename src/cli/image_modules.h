// What images say about the modules of a trace: where they were, and how large they are.
#pragma once

#include <memory>

#include "model/stream.h"
#include "symbols/image_map.h"

namespace tracewell::cli {

/// The same events under a catalog that has these images among its modules. A module of the trace
/// at an image's place, or one of its name without a place, learns what it did not know.
std::unique_ptr<Source> with_image_modules(std::unique_ptr<Source> source,
                                           const symbols::ImageMap& images);

}  // namespace tracewell::cli
