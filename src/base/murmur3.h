// MurmurHash3, Austin Appleby's hash without secrets (public domain, SMHasher). For telling whether
// two files are the same one, where somebody else's format asks for this hash; it guards nothing.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace tracewell {

/// The variant x86_32.
uint32_t murmur3_x86_32(Bytes bytes, uint32_t seed);
/// The variant x64_128, as its two 64-bit halves in order.
std::array<uint64_t, 2> murmur3_x64_128(Bytes bytes, uint32_t seed);

}  // namespace tracewell
