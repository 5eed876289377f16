// The options of those commands that want the files of a trace's program.
#pragma once

#include <string>

#include "trace/images/images.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tracewell::cli {

/// --image, --images-from-trace. `purpose`: what the images are there for.
void add_image_options(CLI::App& app, trace::ImageOptions& options, const std::string& purpose);

}  // namespace tracewell::cli
