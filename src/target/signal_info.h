// Signals, beyond those that stop a thread and are delivered by resume().
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "target/sites.h"

namespace tracewell::target {

class SignalInfo {
 public:
  virtual ~SignalInfo() = default;
  virtual Result<std::vector<uint8_t>> read_siginfo(Tid tid) = 0;
  virtual Status write_siginfo(Tid tid, Bytes bytes) = 0;
  /// Signals (Linux numbers) to deliver without a stop, except to a thread that steps.
  virtual void pass_signals(const std::vector<int>& signals) = 0;
  /// Signals that the program may see: of those that nobody has decided about, when it is let go.
  /// Before the first call, all but SIGTRAP and SIGINT.
  virtual void program_signals(const std::vector<int>& signals) = 0;
};

}  // namespace tracewell::target
