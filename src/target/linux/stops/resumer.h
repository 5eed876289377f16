// Lets a stopped thread go on, past the site where it stands if that was counted; or for good.
#pragma once

#include "target/linux/core.h"
#include "target/linux/fast/fast_sites.h"

namespace tracewell::target::live {

class Resumer {
 public:
  Resumer(Core& core, LiveFastSites& fast) : core_(core), fast_(fast) {}

  void go(Thread& thread, int signal = 0);
  /// Nobody traces it any more. Its process is removed with the last of its threads.
  void detach(Thread& thread, int signal);

 private:
  Core& core_;
  LiveFastSites& fast_;
};

}  // namespace tracewell::target::live
