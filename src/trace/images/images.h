// Which files stand in for the program of a trace, and where they belong.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/work.h"
#include "symbols/image_map.h"

namespace tracewell::trace {

struct ImageOptions {
  std::vector<std::string> images;
  bool from_trace = false;

  bool any() const { return from_trace || !images.empty(); }
};

/// What place_images() would say of files that the user named, whatever the trace is: for whoever
/// places them later.
Status are_openable(const ImageOptions& options);

/// A sentence for each image that `options` name and that stands in the place, or has the name, of
/// a module of another build-id. It is used all the same: the user named it. Without a build-id on
/// one side nobody knows, and nothing is said.
std::vector<std::string> other_builds(const Catalog& catalog, const symbols::ImageMap& images,
                                      const ImageOptions& options);

/// Opens them, and puts them where the trace or the user says. `work` is told of doubts.
Result<symbols::ImageMap> place_images(const Catalog& catalog, const ImageOptions& options,
                                       const Work& work);

}  // namespace tracewell::trace
