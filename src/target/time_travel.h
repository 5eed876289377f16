// Going backwards, where a target is a recording that says what was before.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

/// A recording has moments, numbered from 0; each is before one thread's step. Forwards it goes by
/// resume(): the recorded threads decide who runs. Its last moment is before the last step, because
/// what that one did may not have been recorded; there wait() tells HistoryEnd.
class TimeTravel {
 public:
  virtual ~TimeTravel() = default;
  /// Back by one step of this thread, or as far as a breakpoint, a watchpoint or the beginning
  /// (HistoryBegin). wait() then tells, as after resume().
  virtual Status back(Tid tid, bool step) = 0;

  virtual uint64_t moments() const = 0;
  virtual uint64_t now() const = 0;
  /// What somebody noted at this moment; "" = nothing.
  virtual std::string note() const { return ""; }
  /// To another moment without going there; NotFound when there is none such. Nothing is told.
  virtual Status go_to(uint64_t moment) = 0;
  /// The thread whose step comes next.
  virtual Tid next_thread() = 0;
};

}  // namespace tracewell::target
