// When the events were that starttimer(a, b) remembered.
#pragma once

#include <cstdint>
#include <optional>

#include "base/zeroed.h"

namespace tracewell::report {

/// A table of fixed size: 4096 places of 8 pairs, to which pairs are spread by a hash. A pair more
/// takes the place of the oldest beside it. Places that no pair was put to take no memory. Not
/// shared between threads.
class Timers {
 public:
  void start(uint64_t a, uint64_t b, int64_t time_ns);
  std::optional<int64_t> started(uint64_t a, uint64_t b) const;

 private:
  static constexpr size_t kPlaces = 4096, kPairs = 8;
  struct Pair {  // of zeros: it is not used
    uint64_t a, b;
    int64_t time_ns;
    bool used;
  };
  static size_t place_of(uint64_t a, uint64_t b);
  Pair* pairs() const;
  ZeroedBytes memory_;  // none until the first start
};

}  // namespace tracewell::report
