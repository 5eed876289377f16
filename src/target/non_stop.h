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
  /// As stop(), of one thread, which runs on as soon as its registers and the used part of its
  /// stack were copied: as a profiler takes a sample. wait() tells of a stop as if it were one.
  /// Until the thread is resumed, its registers and that part of the memory are read from the copy,
  /// and nothing of them can be changed; it cannot be told to step. What stops it meanwhile is told
  /// once it has been resumed. stop() stops it, and that is told, too.
  virtual Status sample(Tid thread) = 0;
  /// One that is sampled stands still when this returns, if it can; that is told to nobody.
  virtual void stop_sampled(Tid thread) = 0;
  /// Whoever has asked for stops and samples that wait() has not told of wants none any more.
  virtual void want_no_stops() {}
  /// Does anything run, or is there something that wait() would tell? Otherwise it would sleep.
  virtual bool due() = 0;
};

/// Why a thread that a sample stands for is not changed.
Error only_a_sample(Tid thread);

}  // namespace tracewell::target
