// What images say about the modules of a trace: where they were, and how large they are.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"
#include "symbols/image_map.h"

namespace tracewell::trace {

/// What the images say of the modules of a trace.
void add_image_modules(Catalog& catalog, const symbols::ImageMap& images, const Work& work);

/// The same events under a catalog that has these images among its modules. A module of the trace
/// at an image's place, or one of its name without a place, learns what it did not know. So does
/// one with a name of `named`: whose file is not at hand.
std::unique_ptr<Source> with_image_modules(std::unique_ptr<Source> source,
                                           const symbols::ImageMap& images,
                                           std::span<const Module> named, const Work& work);

/// The same steps; those that do not tell their instruction have that of the image at their place.
std::unique_ptr<Source> with_image_opcodes(std::unique_ptr<Source> source,
                                           symbols::ImageMap images);

/// "NAME@BASE,SIZE"; InvalidArgument when it is not.
Result<Module> parse_module(std::string_view text);

}  // namespace tracewell::trace
