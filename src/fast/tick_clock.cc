#include "fast/tick_clock.h"

#include <algorithm>

namespace tracewell::fast {
namespace {

constexpr int64_t milliseconds(int64_t some) { return some * 1'000'000; }

/// Of two samples, for a rate that is good to some parts in a million: to read the clock and the
/// counter takes some 50 ns.
constexpr int64_t kApartNs = milliseconds(20);
/// In so much time are times right again that were told too early or too late.
constexpr int64_t kRightInNs = milliseconds(5);

}  // namespace

double TickClock::rate(const Sample& from, const Sample& to) {
  if (to.ticks <= from.ticks) return 0;
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

void TickClock::begin(uint64_t ticks, int64_t ns) {
  before_ = now_ = anchor_ = {ticks, ns};
  told_ = ticks;
  rate_before_ = rate_ = 0;
}

/// The line of times bends where the last one was told, and leads to where the clock is: now, or
/// some ms later, so that it does not bend much.
void TickClock::sample(uint64_t ticks, int64_t ns) {
  if (now_.ns - before_.ns >= kApartNs) before_ = now_;
  now_ = {ticks, ns};
  const double true_rate = rate(before_, now_);
  if (true_rate <= 0) return;
  // Who writes ticks may lie: nothing was told of what is to come.
  if (static_cast<int64_t>(told_ - ticks) > 0) told_ = ticks;
  const Sample bend{told_, time_of(told_)};
  // No further than the rate is known from.
  const auto right_in = static_cast<double>(std::min(kRightInNs, now_.ns - before_.ns));
  const double ahead = std::max(static_cast<double>(ticks - told_), right_in / true_rate);
  const double behind_now = ahead - static_cast<double>(ticks - told_);
  const double to_go = static_cast<double>(ns - bend.ns) + behind_now * true_rate;
  if (rate_ > 0) rate_before_ = rate_;
  anchor_ = bend;
  rate_ = std::max(to_go / ahead, 0.0);
  if (rate_before_ == 0) rate_before_ = rate_;
}

}  // namespace tracewell::fast
