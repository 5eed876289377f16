// Lets a stopped thread go on, past the site where it stands if that was counted; or for good.
#pragma once

#include "target/linux/fast/leading_out.h"
#include "target/linux/fast/mender.h"
#include "target/linux/sites/site_stepper.h"
#include "target/linux/stops/starter.h"
#include "target/linux/stops/stop_collector.h"

namespace tracewell::target::live {

class Resumer {
 public:
  Resumer(ThreadTable& threads, StopCollector& stops, Starter& starter, SiteStepper& stepper,
          LeadingOut& leading_out, Mender& mender)
      : threads_(threads),
        stops_(stops),
        starter_(starter),
        stepper_(stepper),
        leading_out_(leading_out),
        mender_(mender) {}

  void go(Thread& thread, int signal = 0);
  /// Nobody traces it any more. Its process is removed with the last of its threads.
  void detach(Thread& thread, int signal);

 private:
  ThreadTable& threads_;
  StopCollector& stops_;
  Starter& starter_;
  SiteStepper& stepper_;
  LeadingOut& leading_out_;
  Mender& mender_;
};

}  // namespace tracewell::target::live
