// Non-stop: threads stop one by one, and the others run on.
#pragma once

#include <span>

#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

/// While it is on: an event stops the one thread that it is about (a fork's child stands still as
/// well, until it is resumed), wait() tells it and leaves the others as they are. resume() may be
/// called at any time, and a thread that runs just goes on. Registers of a running thread cannot be
/// had; all else may be asked for while threads run.
class NonStop {
 public:
  virtual ~NonStop() = default;
  /// On: whoever runs runs on. Off: everything stops, and nothing of that is told.
  virtual Status set_non_stop(bool on) = 0;
  /// Asks running threads to stop; wait() then tells Signal, signal 0, of each, or what happened to
  /// it before. Those that stand still or are gone already are not told of.
  virtual Status stop(std::span<const Tid> threads) = 0;
  /// Does anything run, or is there something that wait() would tell? Otherwise it would sleep.
  virtual bool due() = 0;
};

}  // namespace tracewell::target
