// What the debugger and the engine of tracepoints want to hear of.
#pragma once

#include <bitset>
#include <csignal>

#include "target/target.h"

namespace tracewell::target::live {

struct Wishes {
  using Signals = std::bitset<65>;  // by number
  HitHandler* handler = nullptr;       // null: nobody
  BreakpointFilter* filter = nullptr;  // likewise
  Signals pass_signals;  // untold
  Signals program_signals = ~Signals().set(SIGTRAP).set(SIGINT);  // also as it is let go
  bool tell_forks = false, tell_vforks = false, tell_execs = false, tell_threads = false;
};

}  // namespace tracewell::target::live
