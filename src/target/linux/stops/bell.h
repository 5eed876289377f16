// A child that sleeps and is traced by us. A signal to it becomes a stop that waitpid() reports, so
// any thread can end a blocking waitpid() without a race, and waiting costs nothing more.
#pragma once

#include <atomic>

#include "base/result.h"
#include "target/target.h"

namespace tracewell::target::live {

class Bell {
 public:
  Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell();

  /// From the tracing thread.
  Status hang_up();
  /// From any thread. Before hang_up() it is only remembered.
  void ring() {
    wake_ = true;
    strike();
  }
  /// Likewise; only somebody who looks up now and then is meant.
  void tick() {
    tick_ = true;
    strike();
  }
  /// Ends a blocking waitpid(), and means nothing else.
  void nudge();
  Pid pid() const { return pid_.load(); }
  /// Rung since the last call?
  /// `take_wake` and `take_tick` then say why.
  bool answered() { return rung_.load(std::memory_order_relaxed) && rung_.exchange(false); }
  bool take_wake() { return wake_.exchange(false); }
  bool take_tick() { return tick_.exchange(false); }
  /// Its wait statuses; starts it again.
  void on_status(int status);

 private:
  void strike();
  std::atomic<Pid> pid_{0};
  std::atomic<bool> rung_{false}, wake_{false}, tick_{false};
};

}  // namespace tracewell::target::live
