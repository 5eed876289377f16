// Times of hits: by the processor's time stamp counter, whose rate is not known and may be a little
// different at other times, from a clock that is read now and then.
#pragma once

#include <cstdint>

namespace tracewell::fast {

/// Times go back where ticks do not by no more than it takes to read both clocks, some 50 ns.
class TickClock {
 public:
  /// Nanoseconds of a clock that goes on evenly, and the counter at the same moment.
  void begin(uint64_t ticks, int64_t ns);
  /// Once more, later.
  void sample(uint64_t ticks, int64_t ns);
  int64_t time_of(uint64_t ticks) const {
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - before_.ticks));
    return before_.ns + static_cast<int64_t>(since * (since < 0 ? rate_before_ : rate_now_));
  }
  uint64_t ticks_now() const { return now_.ticks; }
  int64_t ns_now() const { return now_.ns; }

 private:
  struct Sample {
    uint64_t ticks = 0;
    int64_t ns = 0;
  };
  static double rate(const Sample& from, const Sample& to);
  Sample before_, now_;  // the last two that are some time apart
  double rate_before_ = 0, rate_now_ = 0;  // nanoseconds a tick: up to `before_`, and since
};

}  // namespace tracewell::fast
