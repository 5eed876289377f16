// Sites of tracepoints that are traps, and what has to make way for a trap.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "target/linux/fast/fast_sites.h"
#include "target/linux/inject/injector.h"
#include "target/linux/linux_target.h"
#include "target/linux/sites/site_stepper.h"

namespace tracewell::target::live {

class TrapSites {
 public:
  TrapSites(const ThreadTable& threads, LiveFastSites& fast, Injector& injector,
            SiteStepper& stepper, const LinuxOptions& options,
            const std::function<bool()>& gives_up)
      : threads_(threads),
        fast_(fast),
        injector_(injector),
        stepper_(stepper),
        options_(options),
        gives_up_(gives_up) {}

  Status insert(Pid pid, uint64_t address);
  Status remove(Pid pid, uint64_t address);
  /// Somebody is about to put a trap of its own there. Fast sites around it are traps from now on.
  void make_way(Process& process, uint64_t address);

 private:
  const ThreadTable& threads_;
  LiveFastSites& fast_;
  Injector& injector_;
  SiteStepper& stepper_;
  const LinuxOptions& options_;
  const std::function<bool()>& gives_up_;
};

}  // namespace tracewell::target::live
