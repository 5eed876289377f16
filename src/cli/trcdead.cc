// trcdead FILE: what trace hooks left in rings that nobody will collect any more, from the core
// file of their program, or from the folder of a log whose session was never ended.
#include <memory>

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/rings/ring_rescue.h"

namespace tracewell::cli {

Run trcdead_command(OptionTable& table) {
  auto options = std::make_shared<hooks::RescueWords>();
  table.add({
      {.names = "FILE",
       .to = &options->path,
       .what = "a core file, a log whose session was never ended, or a ring in it",
       .completes = Completes::File},
      {.names = "-o",
       .to = &options->log,
       .value = "LOG",
       .what = "the log that they go to",
       .completes = Completes::Folder},
      {.names = "--from",
       .to = &options->from,
       .value = "LOG|UUID",
       .what = "the trace whose rings they are: its UUID, as the log's metadata has it, or, of a "
               "core file, the log that they were in",
       .completes = Completes::Folder},
  });
  add_channel_options(table, options->channel);
  table.footer =
      "Without FILE, it is the log that trace has by default; without -o, the log that the rings\n"
      "lay in, if it is yours. A core file has the rings whose files were gone when the program\n"
      "died, and names those that were there: -o says then where they go. Which ring it is, and\n"
      "of which log, the core file says, and not the ring. What does not fit that is left out\n"
      "and told, and so are rings of traces that have ended, as idle threads have them: --from\n"
      "takes them. A log that is there takes rings of its own session only, none out of files of\n"
      "other users, and out of a core file those of its own process that were in that log.\n"
      "Without a channel, rings of all channels are taken.\n"
      "Exit status: 1 if there are no rings.";
  return [options](const Invocation& call) -> int {
    const auto done = hooks::rescue_rings(*options, call.program, command_work());
    if (!done.ok()) return fail(done.error());
    fmt::print("{}: {} of {}\n", printable(done->log), counted(done->packets, "packet"),
               counted(done->rings, "ring"));
    return static_cast<int>(kOk);
  };
}

}  // namespace tracewell::cli
