#include "hooks/log/log_clock.h"

#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

namespace tracewell::hooks {
namespace {

using Wide = __int128;

constexpr int64_t kNano = 1'000'000'000;
constexpr int kTries = 16;

int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kNano + time.tv_nsec;
}

}  // namespace

/// The best of some tries: that in which the least happened meanwhile.
Instant now() {
  Instant best;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = __rdtsc();
    const int64_t monotonic = clock_ns(CLOCK_MONOTONIC);
    const int64_t time = clock_ns(CLOCK_REALTIME);
    const uint64_t after = __rdtsc();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, time, monotonic};
  }
  return best;
}

LogClock clock_of(const Instant& start, uint64_t hertz) {
  LogClock clock;
  if (hertz != 0) clock.hertz = hertz;
  const Wide origin = Wide{start.time_ns} - Wide{start.ticks} * kNano / Wide{clock.hertz};
  Wide seconds = origin / kNano;
  if (origin < seconds * kNano) --seconds;
  clock.seconds = static_cast<int64_t>(seconds);
  clock.ticks = static_cast<uint64_t>((origin - seconds * kNano) * Wide{clock.hertz} / kNano);
  return clock;
}

uint64_t ticks_at(const LogClock& clock, int64_t time_ns) {
  const Wide passed_ns = Wide{time_ns} - Wide{clock.seconds} * kNano;
  const Wide ticks = passed_ns * Wide{clock.hertz} / kNano - Wide{clock.ticks};
  return static_cast<uint64_t>(std::clamp(ticks, Wide{0}, Wide{INT64_MAX}));
}

LogClock measure_clock() {
  constexpr auto kMeasured = std::chrono::milliseconds(100);
  const Instant start = now();
  std::this_thread::sleep_for(kMeasured);
  const Instant end = now();
  return clock_of(end, measure_clock(start, end).hertz);
}

LogClock measure_clock(const Instant& start, const Instant& end) {
  const int64_t passed_ns = end.monotonic_ns - start.monotonic_ns;
  const uint64_t passed_ticks = end.ticks - start.ticks;
  const bool passed = passed_ns > 0 && passed_ticks > 0;
  return clock_of(start,
                  passed ? static_cast<uint64_t>(Wide{passed_ticks} * kNano / passed_ns) : 1);
}

LogClock measure_clock(const Instant& start, const Instant& end, uint64_t hertz) {
  constexpr uint64_t kShareMost = 100;  // no clock is adjusted by a hundredth
  const LogClock clock = measure_clock(start, end);
  const uint64_t other = std::max(clock.hertz, hertz) - std::min(clock.hertz, hertz);
  return hertz == 0 || other <= hertz / kShareMost ? clock : clock_of(start, hertz);
}

}  // namespace tracewell::hooks
