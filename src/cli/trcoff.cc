// trcoff [-CHANNEL]: interrupt the recording of trace hooks.

#include "cli/command.h"
#include "cli/hook_session.h"
#include "hooks/session/session.h"

namespace tracewell::cli {

Run trcoff_command(OptionTable& table) {
  return on_channel([](hooks::Control& control, unsigned channel) {
    return hooks::switch_tracing(control, channel, false);
  }, table);
}

}  // namespace tracewell::cli
