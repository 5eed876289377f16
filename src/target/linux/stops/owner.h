// What parts of the Tracer ask of it, to which they belong.
#pragma once

#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

class Owner {
 public:
  // --- all threads
  virtual void await_all_stopped() = 0;
  virtual void stop_all() = 0;
  virtual void park_ready() = 0;
  virtual void start_resumed() = 0;
  /// May some thread come to have something to be told?
  virtual bool anything_runs() const = 0;

  virtual Decision decide(Thread& thread, bool parking) = 0;  // see Decider

  // --- processes
  virtual void process_gone(Thread& last, int status) = 0;
  /// Children that share memory with nobody who is debugged.
  virtual void release_orphans() = 0;

 protected:
  ~Owner() = default;
};

}  // namespace tracewell::target::live
