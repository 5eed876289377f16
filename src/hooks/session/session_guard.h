// What ends a session whose command has died.
#pragma once

#include <utility>

#include "base/files/unique_fd.h"
#include "base/result.h"
#include "hooks/control/control.h"

namespace tracewell::hooks {

/// Ends the session of a command that dies before it could: its process sees the command go, also
/// when it was killed by a signal that nobody can catch.
class SessionGuard {
 public:
  static Result<SessionGuard> start(Control& control, unsigned channel);
  /// The session has ended, or is to go on.
  void dismiss();

 private:
  explicit SessionGuard(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;  // a pipe's end: the other one is at the guard
};

}  // namespace tracewell::hooks
