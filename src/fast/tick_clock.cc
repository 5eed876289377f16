#include "fast/tick_clock.h"

#include <chrono>

namespace tracewell::fast {
namespace {

/// Of two samples, for a rate that is good to some parts in a million: to read the clock and the
/// counter takes some 50 ns.
constexpr int64_t kApartNs = std::chrono::nanoseconds(std::chrono::milliseconds(5)).count();

}  // namespace

double TickClock::rate(const Sample& from, const Sample& to) {
  if (to.ticks <= from.ticks) return 0;
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

void TickClock::begin(uint64_t ticks, int64_t ns) {
  before_ = now_ = {ticks, ns};
  rate_before_ = rate_now_ = 0;
}

/// Times up to `before_` have been told: what is behind it may become more exact.
void TickClock::sample(uint64_t ticks, int64_t ns) {
  if (now_.ns - before_.ns >= kApartNs) {
    rate_before_ = rate_now_;
    before_ = now_;
  }
  now_ = {ticks, ns};
  rate_now_ = rate(before_, now_);
  if (rate_before_ == 0) rate_before_ = rate_now_;
}

}  // namespace tracewell::fast
