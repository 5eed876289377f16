// What the arithmetic opcodes compute, on 64-bit values without types. All wrap; every shift count,
// every width and every dividend has a defined result, because the operands come from outside.
#pragma once

#include <cstdint>

namespace tracewell::ax {

constexpr uint64_t shift_left(uint64_t a, uint64_t b) {
  return b >= 64 ? 0 : a << b;
}
constexpr uint64_t shift_right(uint64_t a, uint64_t b) {
  return b >= 64 ? 0 : a >> b;
}
constexpr uint64_t shift_right_signed(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b >= 64 ? 63 : b));
}

/// `b` is not 0. The one quotient that does not fit (smallest number by -1) wraps to itself; the
/// machine's own division would raise SIGFPE.
constexpr uint64_t divide_signed(uint64_t a, uint64_t b) {
  if (b == ~uint64_t{0}) return uint64_t{0} - a;
  return static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}
/// `b` is not 0.
constexpr uint64_t remainder_signed(uint64_t a, uint64_t b) {
  if (b == ~uint64_t{0}) return 0;
  return static_cast<uint64_t>(static_cast<int64_t>(a) % static_cast<int64_t>(b));
}

/// Keeps the low `bits`; all of them from 64 up, none for 0.
constexpr uint64_t zero_extend(uint64_t a, uint64_t bits) {
  return bits >= 64 ? a : a & ((uint64_t{1} << bits) - 1);
}
/// Repeats bit `bits`-1 upwards; no effect from 64 up, 0 for 0.
constexpr uint64_t sign_extend(uint64_t a, uint64_t bits) {
  if (bits >= 64) return a;
  if (bits == 0) return 0;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return (zero_extend(a, bits) ^ sign) - sign;
}

}  // namespace tracewell::ax
