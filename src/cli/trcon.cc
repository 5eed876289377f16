// trcon [-CHANNEL]: go on with recording.

#include "cli/command.h"
#include "cli/hook_session.h"
#include "hooks/session/session.h"

namespace tracewell::cli {

Run trcon_command(OptionTable& table) {
  return on_channel([](hooks::Control& control, unsigned channel) {
    return hooks::switch_tracing(control, channel, true);
  }, table);
}

}  // namespace tracewell::cli
