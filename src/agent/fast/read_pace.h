// ReadPace: how often rings are to be read. A thread whose ring is full waits, so rings that fill
// up are read all the time, and for a while afterwards often, since more may come at once; others
// with each tick of the tracer alone, which costs the machine the least.
#pragma once

#include <chrono>
#include <cstdint>

namespace tracewell::agent {

class ReadPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Behind each read; `bytes_read`: of all of them, from the beginning. Returns how long to wait
  /// until the next one; 0: until the next tick.
  std::chrono::microseconds after_read(Time now, uint64_t bytes_read, uint64_t ring_bytes);

 private:
  Time full_at_{};    // when so much came that a ring would have filled up
  Time looked_at_{};  // when bytes were counted last
  uint64_t bytes_before_ = 0;
};

}  // namespace tracewell::agent
