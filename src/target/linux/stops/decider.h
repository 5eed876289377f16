// Says what a thread's stop means: the debugger is told of it, or the thread goes on, perhaps with
// a signal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "target/linux/core.h"
#include "target/linux/fast/fast_sites.h"
#include "target/linux/memory/late_pages.h"
#include "target/linux/stops/one_by_one.h"
#include "target/linux/stops/unborn.h"

namespace tracewell::target::live {

class Decider {
 public:
  Decider(Core& core, LiveFastSites& fast, OneByOne& one_by_one, Unborn& unborn)
      : core_(core), fast_(fast), one_by_one_(one_by_one), unborn_(unborn) {}

  /// Once for each stop. `parking`: it came too late to be told.
  Decision decide(Thread& thread, bool parking);
  /// Is what was to be told of the thread, and is pending, still so?
  bool still_true(Thread& thread);
  /// Does the thread get this signal untold?
  bool passes(const Thread& thread, int signal) const;

 private:
  class Hit;
  Decision meaning_of(Thread& thread, bool parking);
  Decision on_event_stop(Thread& thread);
  void tell_refusals(Thread& thread);

  // --- signals and system calls (decider.cc)
  Decision on_signal(Thread& thread, int signal);
  Decision on_trap(Thread& thread, bool parking);
  Decision on_system_call(Thread& thread);
  Decision system_call_event(Thread& thread, StopEvent::Kind kind, int64_t number);
  std::optional<StopEvent> watch_event(Thread& thread);

  // --- breakpoints' and sites' traps, and steps (hits.cc)
  Decision on_int3(Thread& thread, bool parking);
  Decision on_step(Thread& thread, int code, bool parking);
  bool filtered(Thread& thread, Breakpoints::Kind kind, uint64_t address) const;
  bool filter_tells(Thread& thread, Breakpoints::Kind kind, uint64_t address);

  // --- children and programs (forks.cc)
  Decision on_clone(Thread& thread), on_fork(Thread& thread, bool vfork);
  Decision child_born(Thread& thread, Pid child, StopEvent::Kind kind);
  Decision on_exec(Thread& thread);

  Core& core_;
  LiveFastSites& fast_;
  OneByOne& one_by_one_;
  Unborn& unborn_;
  LatePages late_pages_;
  std::vector<uint8_t> block_;  // of the hit that somebody looks at
};

}  // namespace tracewell::target::live
