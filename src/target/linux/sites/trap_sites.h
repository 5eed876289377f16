// Sites of tracepoints that are traps, and what has to make way for a trap.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/linux/core.h"
#include "target/linux/fast/fast_sites.h"

namespace tracewell::target::live {

class TrapSites {
 public:
  TrapSites(Core& core, LiveFastSites& fast) : core_(core), fast_(fast) {}

  Status insert(Pid pid, uint64_t address);
  Status remove(Pid pid, uint64_t address);
  /// Somebody is about to put a trap of its own there. Fast sites around it are traps from now on.
  void make_way(Process& process, uint64_t address);

 private:
  Core& core_;
  LiveFastSites& fast_;
};

}  // namespace tracewell::target::live
