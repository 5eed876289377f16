// System calls of a process at which its threads stop, for a debugger that wants to see them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

/// Stops at system calls. A child inherits what its parent has; exec changes nothing.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  /// `only` these numbers, or all if there are none. Replaces what was asked for before.
  virtual Status catch_system_calls(Pid pid, bool on, std::vector<int64_t> only) = 0;
};

}  // namespace tracewell::target
