// A trace that somebody waits for: the dialogue of `trace`, and the command of `trace -x`.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/held_signals.h"
#include "hooks/control/control.h"

namespace tracewell::cli {

/// How a wait came to its end.
struct Waited {
  int status = 0;  // of what was waited for, as a shell tells it
  int signal = 0;  // that we are to end by; 0 = none
};

/// Runs a command of the shell. Ctrl-C and Ctrl-\ are meant for it; other signals end the wait, and
/// the command goes on.
Result<Waited> run_shell(const std::string& command, const HeldSignals& signals);

/// The dialogue of a trace in the foreground. Ctrl-C ends it, and so do other signals and the end
/// of standard input; whoever calls ends the trace.
Waited ask(hooks::Control& control, unsigned channel, const HeldSignals& signals);

}  // namespace tracewell::cli
