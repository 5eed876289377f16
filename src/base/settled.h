// Numbers out of memory that others write to meanwhile: a mapped file, shared memory.
#pragma once

#include <type_traits>

namespace tracewell {

/// The value that was read, whatever becomes of the memory that it was read from. A compiler may
/// read memory again that it believes nobody to change, and what was checked is then another number
/// than what is used. For a number that sizes or places something. It takes no instruction.
template <class Number>
inline Number settled(Number value) {
  static_assert(std::is_integral_v<Number>);
  asm("" : "+r"(value));
  return value;
}

}  // namespace tracewell
