// Signals that ask a command to end, for one that has to put something in order first.
#pragma once

#include <csignal>

#include "base/files/unique_fd.h"

namespace tracewell {

/// While one is there, SIGHUP, SIGINT, SIGQUIT and SIGTERM wait until they are asked for; what
/// nobody took by the end does what it would have done. Those that are ignored stay so. For one
/// thread.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Returns when `fd` can be read, or has ended: 0; or when a signal comes: that one.
  int wait_for(int fd) const;
  /// One that has come: it is taken; 0 = none.
  int take() const;

 private:
  sigset_t before_;
  UniqueFd fd_;
};

/// Ends us by the signal, as whoever started us expects to see.
[[noreturn]] void end_by(int signal);

}  // namespace tracewell
