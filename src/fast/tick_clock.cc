#include "fast/tick_clock.h"

#include <algorithm>

namespace tracewell::fast {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
/// Of two samples, for a rate that is good to some parts in a million: to read the clock and the
/// counter takes some 50 ns.
constexpr int64_t kApartNs = 20 * kMillisecondNs;
/// In so much time are times right again that were told too early or too late.
constexpr int64_t kRightInNs = 5 * kMillisecondNs;

}  // namespace

void TickClock::begin(uint64_t ticks, int64_t ns) {
  older_ = before_ = now_ = anchor_ = right_ = {ticks, ns};
  told_ = ticks;
  rate_before_ = rate_until_ = rate_ = 0;
}

/// The line bends where the last time was told, and leads to where the clock is: now, or some ms
/// later, so that it does not bend much.
void TickClock::sample(uint64_t ticks, int64_t ns) {
  if (now_.ns - before_.ns >= kApartNs) {
    older_ = before_;
    before_ = now_;
  }
  now_ = {ticks, ns};
  const double rate = static_cast<double>(ns - older_.ns) / apart(older_.ticks, ticks);
  if (ticks <= older_.ticks || rate <= 0) return;
  // Who writes ticks may lie: nothing was told of what is to come.
  if (apart(ticks, told_) > 0) told_ = ticks;
  const Sample bend{told_, time_of(told_)};
  const bool is_first = rate_ == 0;
  if (told_ != anchor_.ticks) rate_before_ = apart(right_.ticks, told_) >= 0 ? rate_ : rate_until_;
  if (is_first) rate_before_ = rate;
  // No further than the rate is known from.
  const auto right_in = static_cast<double>(std::min(kRightInNs, ns - older_.ns));
  const double since = apart(told_, ticks), ahead = std::max(since, right_in / rate);
  anchor_ = bend;
  right_ = {told_ + static_cast<uint64_t>(ahead),
            std::max(bend.ns, ns + static_cast<int64_t>((ahead - since) * rate))};
  rate_ = rate;
  const double until = std::max(apart(told_, right_.ticks), 1.0);
  rate_until_ = static_cast<double>(right_.ns - bend.ns) / until;
}

}  // namespace tracewell::fast
