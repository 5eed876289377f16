// trcstop [-CHANNEL]: end the recording of trace hooks.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/hook_session.h"
#include "hooks/session.h"

namespace tracewell::cli {

Run trcstop_command(CLI::App& app) {
  return on_channel([](hooks::Control& control, unsigned channel) {
    tell_unseen_programs();
    return hooks::stop_session(control, channel);
  }, app);
}

}  // namespace tracewell::cli
