// The core of tracing: the traced threads, and what can be done to each of them. Nothing here knows
// what a stop means, or decides what is done about it.
#pragma once

#include <functional>

#include "target/linux/fast/leading_out.h"
#include "target/linux/fast/mender.h"
#include "target/linux/inject/arenas.h"
#include "target/linux/inject/far_memory.h"
#include "target/linux/inject/injector.h"
#include "target/linux/options.h"
#include "target/linux/sites/site_stepper.h"
#include "target/linux/stops/late.h"
#include "target/linux/stops/let_go.h"
#include "target/linux/stops/resumer.h"
#include "target/linux/stops/starter.h"
#include "target/linux/stops/stop_collector.h"
#include "target/linux/stops/stopper.h"
#include "target/linux/stops/untold.h"
#include "target/linux/stops/wishes.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/thread_table.h"

namespace tracewell::target::live {

struct Core {
  /// `quits`: is what takes long to be left off? May be empty.
  Core(const LinuxOptions& wanted, const std::function<bool()>& quits,
       ThreadTable::Watcher& watcher, StopCollector::Receiver& receiver)
      : options(wanted), gives_up(quits), threads(watcher), stops(threads, receiver, gives_up) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const LinuxOptions options;
  const std::function<bool()> gives_up;
  Wishes wishes;
  Untold untold;
  ThreadTable threads;
  RegisterBlocks registers;
  StopCollector stops;
  Late late{threads, registers, options.notice};
  LetGo let_go{threads, stops};
  Starter starter{registers};
  Stopper stopper{threads, stops, late, gives_up};
  Injector injector{threads, stops, late, gives_up};
  Arenas arenas{injector, options.map_memory, gives_up};
  SiteStepper stepper{stops, late, starter, stopper, arenas, gives_up};
  FarMemory far_memory{injector};
  Mender mender{threads, stops, stopper, injector, far_memory, wishes};
  LeadingOut leading_out{stops, stepper, wishes, gives_up};
  Resumer resumer{threads, stops, starter, stepper, leading_out, mender};
};

}  // namespace tracewell::target::live
