// What a trace's addresses are called in the source of its program.
#pragma once

#include <memory>

#include "model/stream.h"
#include "model/work.h"
#include "symbols/image_map.h"
#include "trace/images/address_names.h"
#include "trace/images/images.h"

namespace tracewell::trace {

/// Code is "match+19 at book.c:19", "match+19" or "book.c:19"; data is "table+8". An image's names
/// are read when the first address in it is asked for.
AddressNames image_names(symbols::ImageMap images, const Work& work);
/// Of the images that were asked for, placed; none when there are none. `source` is then compared
/// with them while it is read, and has their instructions where it tells none: with_image_code().
/// This is what an --image means to each command that reads steps.
Result<AddressNames> names_of_images(std::unique_ptr<Source>& source, const ImageOptions& options,
                                     const Work& work);

}  // namespace tracewell::trace
