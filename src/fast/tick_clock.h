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
    const double since = apart(anchor_.ticks, ticks);
    if (since < 0) return anchor_.ns + static_cast<int64_t>(since * rate_before_);
    const double behind = apart(right_.ticks, ticks);
    if (behind >= 0) return right_.ns + static_cast<int64_t>(behind * rate_);
    return anchor_.ns + static_cast<int64_t>(since * rate_until_);
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
  static double apart(uint64_t from, uint64_t to) {
    return static_cast<double>(static_cast<int64_t>(to - from));
  }
  Sample older_, before_, now_;  // each some time behind the one before
  /// Where the line that times are on bends: at what was told last, and where it is right again.
  Sample anchor_, right_;
  double rate_before_ = 0, rate_until_ = 0, rate_ = 0;  // nanoseconds a tick, of its three parts
  uint64_t told_ = 0;
};

}  // namespace tracewell::fast
