// The file of a live trace buffer: what its agent needs to write it, and what can be asked of it
// without reading the frames. docs/formats/tracebuffer.md
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/catalog.h"

namespace tracewell::formats {

/// What such a file says of its frames: definitions, status, machine, auxv, modules.
std::vector<uint8_t> tracebuffer_description(const Catalog& catalog);

/// Keys of Catalog::extras that its reader adds.
inline constexpr std::string_view kTracebufferAgent = "tracebuffer.agent";    // process id
inline constexpr std::string_view kTracebufferInUse = "tracebuffer.in-use";  // "yes", "no"

}  // namespace tracewell::formats
