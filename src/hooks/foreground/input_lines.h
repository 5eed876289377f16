// Lines that somebody types while a trace runs.
#pragma once

#include <optional>
#include <string>

#include "base/process/held_signals.h"

namespace tracewell::hooks {

/// Lines of a descriptor, which is borrowed. Another program that reads it in between, as a command
/// does that is run, reads on behind what is here.
class InputLines {
 public:
  explicit InputLines(int fd) : fd_(fd) {}
  /// nullopt: there are no more, or a signal came: that one, or 0.
  std::optional<std::string> next(const HeldSignals& signals, int& signal);

 private:
  std::string take(size_t end, size_t rest);

  int fd_;
  std::string text_;
};

}  // namespace tracewell::hooks
