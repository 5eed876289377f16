// How a collector waits for work: it looks now and then, and is woken when a ring fills fast.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>

namespace tracewell::hooks {

/// Between two rounds of a collector that finds nothing. Says in the channel that it sleeps; a
/// program that fills half of a ring then ends the sleep.
class CollectorSleep {
 public:
  explicit CollectorSleep(tracewell_channel& channel) : word_(channel.collector) {}
  ~CollectorSleep();
  CollectorSleep(const CollectorSleep&) = delete;
  CollectorSleep& operator=(const CollectorSleep&) = delete;

  void found_something();
  /// Sleeps, longer each time. The first time, it only says that it will: what was done before that
  /// was seen shows in the next round.
  void found_nothing();

 private:
  static constexpr long kNsMin = 50'000;
  static constexpr long kNsMax = 20'000'000;

  uint32_t& word_;
  long ns_ = kNsMin;
};

/// Ends the sleep of the channel's collector, and one that it is just beginning.
void wake_collector(tracewell_channel& channel);

/// Asks for short turns, which come soon after a wake-up also where the processor is busy (from
/// Linux 6.12 on; others ignore it). It needs no rights, and is no larger share.
void ask_for_short_turns();

}  // namespace tracewell::hooks
