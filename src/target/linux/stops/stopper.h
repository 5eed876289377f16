// Waits until threads stand still, but for those that do not stop: see late.h.
#pragma once

#include <functional>

#include "target/linux/stops/late.h"
#include "target/linux/stops/stop_collector.h"

namespace tracewell::target::live {

class Stopper {
 public:
  Stopper(const ThreadTable& threads, StopCollector& stops, Late& late,
          const std::function<bool()>& gives_up)
      : threads_(threads), stops_(stops), late_(late), gives_up_(gives_up) {}

  /// All threads. `look_at_ready` is called whenever some may have stopped.
  void stop_all(const std::function<void()>& look_at_ready);
  /// The others of this memory; wait() starts them again.
  void quiesce(Thread& but);

 private:
  const ThreadTable& threads_;
  StopCollector& stops_;
  Late& late_;
  const std::function<bool()>& gives_up_;
};

}  // namespace tracewell::target::live
