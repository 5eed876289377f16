// trcstop [-CHANNEL]: end the recording of trace hooks.
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/hook_session.h"
#include "hooks/session/session.h"

namespace tracewell::cli {

Run trcstop_command(CLI::App& app) {
  auto discard = std::make_shared<bool>(false);
  app.add_flag("--discard", *discard,
               "what is still in buffers goes; the log says how many hooks that were");
  return on_channel([discard](hooks::Control& control, unsigned channel) {
    std::optional<Folder> log;
    const Status status = hooks::stop_session(
        control, channel, *discard ? hooks::Rest::Discarded : hooks::Rest::Kept, {}, &log);
    // Later: no look at other programs is to keep the trace from its end.
    tell_unseen_programs();
    tell_lost_hooks(log);
    return status;
  }, app);
}

}  // namespace tracewell::cli
