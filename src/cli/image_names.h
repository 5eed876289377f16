// What a trace's addresses are called in the source of its program.
#pragma once

#include "cli/text_sink.h"
#include "symbols/image_map.h"

namespace tracewell::cli {

/// Code is "match+19 at book.c:19", "match+19" or "book.c:19"; data is "table+8". An image's names
/// are read when the first address in it is asked for.
AddressNames image_names(symbols::ImageMap images);

}  // namespace tracewell::cli
