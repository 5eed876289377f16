// The time stamp counter, and what the time was.
#pragma once

#include <cstdint>

namespace tracewell::hooks {

/// All three at one instant, as well as that can be told.
struct Instant {
  uint64_t ticks = 0;
  int64_t time_ns = 0;  // Unix epoch
  int64_t monotonic_ns = 0;
};

Instant now();

/// What CTF wants of a clock: the epoch is `seconds` + (`ticks` + counter) / `hertz`.
struct LogClock {
  uint64_t hertz = 1;
  int64_t seconds = 0;
  uint64_t ticks = 0;
};

/// When the counter's frequency is known, and what time it was once.
LogClock clock_of(const Instant& start, uint64_t hertz);

/// What the counter would show at `time_ns`, in a log of another boot, too. At least 0.
uint64_t ticks_at(const LogClock& clock, int64_t time_ns);

/// Of this machine as it runs now: takes a tenth of a second. Of what happened an hour ago it is
/// right to some milliseconds, and to what the system's clock was adjusted by since.
LogClock measure_clock();

/// Of two instants; the longer the time between them, the better. `start` is right exactly.
LogClock measure_clock(const Instant& start, const Instant& end);
/// The same where `hertz` was measured before, soon after `start`. It holds where the other cannot
/// be right: between the two the monotonic clock stood still and the counter did not (s2idle), or
/// they are of several time namespaces (time_namespaces(7)).
LogClock measure_clock(const Instant& start, const Instant& end, uint64_t hertz);

}  // namespace tracewell::hooks
