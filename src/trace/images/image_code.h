// Are the images what was executed? With a wrong BASE all names are wrong, and nothing else shows
// it.
#pragma once

#include <memory>

#include "model/stream.h"
#include "model/work.h"
#include "symbols/image_map.h"

namespace tracewell::trace {

/// Compares instructions that the trace recorded with what the images have at their addresses, and
/// tells `work` where most of them differ, or where none is in any image. Looks at some
/// steps, however long the trace is; at none of a trace without random access.
void check_code(Source& source, const symbols::ImageMap& images, const Work& work);

/// The same of any trace: one without random access is compared while it is read.
std::unique_ptr<Source> with_checked_code(std::unique_ptr<Source> source,
                                          const symbols::ImageMap& images, const Work& work);

/// The same, and what the images tell of code: steps of a trace without random access that do not
/// tell their instruction, as in formats that carry none, have that of the image at their place.
std::unique_ptr<Source> with_image_code(std::unique_ptr<Source> source,
                                        const symbols::ImageMap& images, const Work& work);

}  // namespace tracewell::trace
