// Times of hits: by the processor's time stamp counter, whose rate is not known and may be a little
// different at other times, from a clock that is read now and then.
#pragma once

#include <cstdint>

namespace tracewell::fast {

/// Times do not go back where ticks do not. They are right to within what it takes to read both
/// clocks, some 50 ns; where times were told that turn out to be wrong by more, some ms later.
class TickClock {
 public:
  /// Nanoseconds of a clock that goes on evenly, and the counter at the same moment.
  void begin(uint64_t ticks, int64_t ns);
  /// Once more, later.
  void sample(uint64_t ticks, int64_t ns);
  int64_t time_of(uint64_t ticks) const {
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - anchor_.ticks));
    return anchor_.ns + static_cast<int64_t>(since * (since < 0 ? rate_before_ : rate_));
  }
  /// The times of this one and of those before it stay as they are from now on.
  void told(uint64_t ticks) {
    if (static_cast<int64_t>(ticks - told_) > 0) told_ = ticks;
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
  Sample anchor_;        // where the line that times are on has its last bend
  double rate_before_ = 0, rate_ = 0;  // nanoseconds a tick: up to there, and behind it
  uint64_t told_ = 0;
};

}  // namespace tracewell::fast
