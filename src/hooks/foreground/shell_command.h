// A command of the shell that somebody waits for while they trace: `!COMMAND` of the dialogue, and
// those of `trace -x` and `-X`.
#pragma once

#include <csignal>
#include <string>

#include "base/result.h"
#include "base/process/held_signals.h"

namespace tracewell::hooks {

/// How a wait came to its end.
struct Waited {
  int status = 0;  // of what was waited for, as a shell tells it
  int signal = 0;  // that we are to end by; 0 = none
};

/// Runs a command of the shell, which has the signals of `mask` blocked. Ctrl-C and Ctrl-\ are
/// meant for it; other signals end the wait, and the command goes on.
Result<Waited> run_shell(const std::string& command, const sigset_t& mask,
                         const HeldSignals& signals);

}  // namespace tracewell::hooks
