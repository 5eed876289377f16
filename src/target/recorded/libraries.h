// The document by which GDB learns which shared libraries a program had loaded, and where.
#pragma once

#include <string>

#include "symbols/image_map.h"

namespace tracewell::target {

/// A `<library-list-svr4>` (manual, "Library List Format for SVR4 Targets") of all images but
/// `program` (which may be null). GDB checks a library's place by its dynamic section, so an image
/// without one is left out. The link-map addresses are made up: GDB only tells libraries apart by
/// them.
std::string libraries_svr4(const symbols::ImageMap& images, const symbols::MappedImage* program);

}  // namespace tracewell::target
