// Leads threads out of code of ours.
#pragma once

#include <cstdint>
#include <functional>

#include "target/linux/fast/fast_code.h"
#include "target/linux/sites/site_stepper.h"
#include "target/linux/stops/stop_collector.h"
#include "target/linux/stops/wishes.h"
#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

class LeadingOut {
 public:
  LeadingOut(StopCollector& stops, SiteStepper& stepper, const Wishes& wishes,
             const std::function<bool()>& gives_up)
      : stops_(stops), stepper_(stepper), wishes_(wishes), gives_up_(gives_up) {}

  /// Steps a thread to the next place where its registers are the program's. false: it is gone, or
  /// stays inside: see FastCode::stays_inside.
  bool leave(Thread& thread);
  /// A thread that stands in code of ours comes to stand where the program would.
  void settle(Thread& thread);
  /// So long has one, and all of them together, when we are to end.
  static constexpr int64_t kAtEndNs = kSecond / 2, kAllAtEndNs = 2 * kSecond;

 private:
  bool ends_soon() const { return gives_up_ && gives_up_(); }
  int64_t leaves_until(int64_t begin_ns);
  void has_left(int64_t begin_ns);
  uint32_t steps_left(const FastCode& code) const;
  Waited step_on(Thread& thread);
  bool look_at_step(Thread& thread);
  bool begin_leaving(Thread& thread);
  void end_leaving(Thread& thread);
  void settle_in_code(Thread& thread);

  StopCollector& stops_;
  SiteStepper& stepper_;
  const Wishes& wishes_;
  const std::function<bool()>& gives_up_;
  int64_t end_ns_ = 0;  // when no thread is led out any more, once we are to end
  int64_t last_end_ns_ = 0;  // what that may become
};

}  // namespace tracewell::target::live
