// When the events were that starttimer(a, b) remembered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace tracewell::report {

/// A table of fixed size: 4096 places of 8 pairs, to which pairs are spread by a hash. A pair more
/// takes the place of the oldest beside it. Not shared between threads.
class Timers {
 public:
  void start(uint64_t a, uint64_t b, int64_t time_ns);
  std::optional<int64_t> started(uint64_t a, uint64_t b) const;

 private:
  static constexpr size_t kPlaces = 4096, kPairs = 8;
  struct Pair {
    uint64_t a = 0, b = 0;
    int64_t time_ns = 0;
    bool used = false;
  };
  static size_t place_of(uint64_t a, uint64_t b);
  std::unique_ptr<Pair[]> pairs_;  // none until the first start
};

}  // namespace tracewell::report
