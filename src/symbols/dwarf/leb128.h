// Numbers as DWARF writes them (DWARF 5, 7.6), in bytes that may end anywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace tracewell::symbols {

/// nullopt when the bytes end, or the number does not after sixteen of them; what does not fit 64
/// bits is cut. A signed one is in two's complement.
inline std::optional<uint64_t> leb128(ByteReader& in, bool is_signed = false) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 16 * 7; shift += 7) {
    const auto byte = in.uint(1);
    if (!byte) return std::nullopt;
    if (shift < 64) value |= (*byte & 0x7f) << shift;
    if ((*byte & 0x80) != 0) continue;
    if (is_signed && (*byte & 0x40) != 0 && shift + 7 < 64) value |= UINT64_MAX << (shift + 7);
    return value;
  }
  return std::nullopt;
}

}  // namespace tracewell::symbols
