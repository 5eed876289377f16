// trcstop [-CHANNEL]: end the recording of trace hooks.
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/session/notices.h"
#include "hooks/session/session.h"

namespace tracewell::cli {

Run trcstop_command(OptionTable& table) {
  auto discard = std::make_shared<bool>(false);
  table.add({{.names = "--discard",
              .to = discard.get(),
              .what = "what is still in buffers goes; the log says how many hooks that were"}});
  return on_channel([discard](hooks::Control& control, unsigned channel) {
    std::optional<Folder> log;
    const Status status = hooks::stop_session(
        control, channel, *discard ? hooks::Rest::Discarded : hooks::Rest::Kept, {}, &log);
    // Later: no look at other programs is to keep the trace from its end.
    hooks::tell_unseen_programs(command_work());
    hooks::tell_lost_hooks(log, command_work());
    return status;
  }, table);
}

}  // namespace tracewell::cli
