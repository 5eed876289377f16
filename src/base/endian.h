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
  // In one go what is mostly read: compilers see that in the loop only where they know the size.
  if (!__builtin_is_constant_evaluated() && endian == Endian::Little &&
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (size == 8 || size == 4)) {
    if (size == 8) {
      __builtin_memcpy(&value, from, 8);
      return value;
    }
    uint32_t half = 0;
    __builtin_memcpy(&half, from, 4);
    return half;
  }
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{from[endian == Endian::Little ? i : size - 1 - i]} << (8 * i);
  return value;
}

/// Writes the low `size` (0..8) bytes of `value` to `to`.
constexpr void store_uint(uint8_t* to, uint64_t value, size_t size, Endian endian) {
  if (!__builtin_is_constant_evaluated() && endian == Endian::Little &&
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (size == 8 || size == 4)) {
    const auto half = static_cast<uint32_t>(value);
    if (size == 8)
      __builtin_memcpy(to, &value, 8);
    else
      __builtin_memcpy(to, &half, 4);
    return;
  }
  for (size_t i = 0; i < size; ++i)
    to[endian == Endian::Little ? i : size - 1 - i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace tracewell
