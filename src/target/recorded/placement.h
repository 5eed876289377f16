// Which files stand in for the memory of a recorded program, and at which addresses.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "symbols/image_map.h"

namespace tracewell::target {

struct ImagePlacement {
  symbols::ImageMap images;
  std::vector<std::string> notes;  // one sentence each, for the user
};

/// What the user named comes first. An image without a base that could have been anywhere is looked
/// for among the trace's modules (by build-id, else by file name) and then by the recorded entry
/// point; failing that it stays at its own addresses, with a note.
///
/// A trace may come from anybody, so the files that it names are opened only with `from_trace`, and
/// then only if they are regular files and their build-id is the recorded one.
///
/// An image that the user named and that cannot be opened is an error.
Result<ImagePlacement> place_images(const Catalog& catalog,
                                    std::span<const symbols::ImageSpec> named, bool from_trace);

}  // namespace tracewell::target
