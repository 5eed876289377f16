// The hash by which x64dbg's traces and databases know the program that they are of.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/image.h"

namespace tracewell::symbols {

/// MurmurHash3 with seed 0x1337 of the file's mapping: of a 64-bit program the first half of
/// x64_128, of a 32-bit one x86_32. "Mapping" is taken as that of a file and not of an image: all
/// bytes as they stand on disk, neither laid out in sections nor relocated nor padded to a page. It
/// reads the whole file. nullopt: the file has more bytes than kHashedBytesMax.
std::optional<uint64_t> program_hash(const Image& image);

/// No PE file that is loaded is larger: its sizes have 32 bits. A file of holes may be as large as
/// somebody likes.
constexpr uint64_t kHashedBytesMax = uint64_t{4} << 30;

}  // namespace tracewell::symbols
