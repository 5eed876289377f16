// trcon [-CHANNEL]: go on with recording.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/hook_session.h"
#include "hooks/session/session.h"

namespace tracewell::cli {

Run trcon_command(CLI::App& app) {
  return on_channel([](hooks::Control& control, unsigned channel) {
    return hooks::switch_tracing(control, channel, true);
  }, app);
}

}  // namespace tracewell::cli
