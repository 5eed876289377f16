// The auxiliary vector, by which a kernel tells a program (and a debugger) where things are: pairs
// of words, of the address size and byte order of the program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "symbols/image_map.h"

namespace tracewell::target {

/// The value of entry `type` (AT_ENTRY, …) of an auxiliary vector; nullopt when it is not there.
std::optional<uint64_t> find_auxv(Bytes auxv, uint64_t type, uint32_t address_bytes, Endian endian);

/// What a debugger needs in order to move the symbols of `program` to where it was: AT_PHDR,
/// AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_ENTRY, and an AT_BASE where nothing can be, because where the
/// loader was is not known.
std::vector<uint8_t> make_auxv(const symbols::MappedImage& program);

}  // namespace tracewell::target
