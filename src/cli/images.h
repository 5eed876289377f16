// The options of those commands that want the files of a trace's program.
#pragma once

#include <string>

#include "trace/images/images.h"

namespace tracewell::cli {

struct OptionTable;

/// --image, --images-from-trace. `purpose`: what the images are there for.
void add_image_options(OptionTable& table, trace::ImageOptions& options,
                       const std::string& purpose);

}  // namespace tracewell::cli
