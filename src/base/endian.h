// base/freestanding: no libc, no allocation.
// Byte order, and unaligned loads and stores in either order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewell {

enum class Endian : uint8_t { Little, Big };

/// Reads `size` (0..8) bytes at `from` as an unsigned number.
constexpr uint64_t load_uint(const uint8_t* from, size_t size, Endian endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{from[endian == Endian::Little ? i : size - 1 - i]} << (8 * i);
  return value;
}

/// Writes the low `size` (0..8) bytes of `value` to `to`.
constexpr void store_uint(uint8_t* to, uint64_t value, size_t size, Endian endian) {
  for (size_t i = 0; i < size; ++i)
    to[endian == Endian::Little ? i : size - 1 - i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace tracewell
