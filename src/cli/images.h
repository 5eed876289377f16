// Which files stand in for the program of a trace: the options of those commands that want some.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "symbols/image_map.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tracewell::cli {

struct ImageOptions {
  std::vector<std::string> images;
  bool from_trace = false;

  bool any() const { return from_trace || !images.empty(); }
};
/// --image, --images-from-trace. `purpose`: what the images are there for.
void add_image_options(CLI::App& app, ImageOptions& options, const std::string& purpose);

/// What place_images() would say of files that the user named, whatever the trace is: for whoever
/// places them later.
Status are_openable(const ImageOptions& options);

/// A sentence for each image that `options` name and that stands in the place, or has the name, of
/// a module of another build-id. It is used all the same: the user named it. Without a build-id on
/// one side nobody knows, and nothing is said.
std::vector<std::string> other_builds(const Catalog& catalog, const symbols::ImageMap& images,
                                      const ImageOptions& options);

/// Opens them, and puts them where the trace or the user says. Doubts go to standard error.
Result<symbols::ImageMap> place_images(const Catalog& catalog, const ImageOptions& options);

}  // namespace tracewell::cli
