// How many events a loss has taken (Lost::count); 0: not known.
#pragma once

#include <cstdint>

namespace tracewell {

/// More than anybody has lost. Traces may tell any number; one above this is not believed, so that
/// sums of as many as there can be stay numbers.
constexpr uint64_t kLostCountMax = uint64_t{1} << 40;

constexpr uint64_t lost_count(uint64_t told) { return told > kLostCountMax ? 0 : told; }

/// Of two losses together.
constexpr uint64_t lost_together(uint64_t one, uint64_t other) {
  const uint64_t a = lost_count(one), b = lost_count(other);
  return a == 0 || b == 0 ? 0 : lost_count(a + b);
}

/// In a log, the largest number stands for none: babeltrace2 ends by an assertion where a packet
/// has it.
constexpr uint64_t kLostSumMax = UINT64_MAX - 1;

/// Of two counts as who lost them tells. One that is not known stays one.
constexpr uint64_t lost_sum(uint64_t one, uint64_t other) {
  return one > kLostSumMax || other > kLostSumMax - one ? kLostSumMax : one + other;
}

}  // namespace tracewell
