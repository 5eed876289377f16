// The dialogue of a trace in the foreground: what is typed, and what comes of it.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "hooks/control/control.h"
#include "hooks/foreground/shell_command.h"

namespace tracewell::hooks {

class Dialogue {
 public:
  /// What `!COMMAND` is run by.
  using RunCommand = std::function<Result<Waited>(const std::string& command)>;

  /// `control` outlives it.
  Dialogue(Control& control, unsigned channel, RunCommand run)
      : control_(control), channel_(channel), run_(std::move(run)) {}

  struct Answer {
    bool ends = false;  // the line ends the trace, and so does a signal
    int signal = 0;     // that came while a command ran, and that we are to end by; 0 = none
    std::string text;   // lines for whoever asked; "" = nothing is to be said
    Status status;      // why it was not done; the dialogue goes on
  };
  Answer answer(const std::string& line);

 private:
  Control& control_;
  unsigned channel_;
  RunCommand run_;
};

}  // namespace tracewell::hooks
