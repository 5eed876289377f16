// trcdead FILE: what trace hooks left in rings that nobody will collect any more, from the core
// file of their program, or from the folder of a log whose session was never ended.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/log/log_use.h"
#include "hooks/rings/chosen_rings.h"
#include "hooks/rings/dead_rings.h"
#include "hooks/session/session.h"

namespace tracewell::cli {
namespace {

struct DeadOptions {
  std::string path, log, from;
  std::optional<unsigned> channel;
};

/// The log that the rings lay in, if they did.
std::string log_of_rings(const std::vector<hooks::DeadRing>& rings) {
  for (const hooks::DeadRing& one : rings) {
    if (!one.log.empty()) return one.log;
    if (!one.path.empty()) return parent_of(parent_of(one.path));
  }
  return "";
}

Result<std::string> choose_log(const DeadOptions& options, const std::string& path,
                               const hooks::DeadRings& found) {
  if (!options.log.empty()) return hooks::log_path(options.log);
  const std::string log = log_of_rings(found.rings);
  if (!log.empty() && found.of_core)
    return {Errc::InvalidArgument,
            fmt::format("{} is a core file, which says of itself that its rings are of the log {}; "
                        "-o LOG says where they shall go",
                        printable(path), printable(log))};
  if (!log.empty()) return hooks::log_path(log);
  TW_ASSIGN_OR_RETURN(const std::string usual, hooks::default_log(hooks::StateUse::Write));
  return hooks::log_path(usual);
}

hooks::RingChoice choice_of(const DeadOptions& options) {
  hooks::RingChoice out;
  out.channel = options.channel;
  out.trace = hooks::read_uuid(options.from);
  if (!out.trace && !options.from.empty()) out.log = hooks::log_path(options.from);
  return out;
}

Result<int> rescue(const DeadOptions& options, const std::string& command) {
  std::string path = options.path;
  if (path.empty()) {
    TW_ASSIGN_OR_RETURN(path, hooks::default_log());
  }
  TW_ASSIGN_OR_RETURN(const hooks::DeadRings found,
                      hooks::find_dead_rings(path, choice_of(options)));
  for (const std::string& why : found.left_out)
    fmt::print(stderr, "tracewell: {}\n", printable(why));
  if (found.rings.empty())
    return {Errc::NotFound,
            fmt::format("there are no rings of trace hooks{}{} in {}",
                        options.channel ? fmt::format(" of channel {}", *options.channel) : "",
                        options.from.empty() ? "" : fmt::format(" of {}", printable(options.from)),
                        printable(path))};
  TW_ASSIGN_OR_RETURN(const std::string log, choose_log(options, path, found));
  TW_ASSIGN_OR_RETURN(const hooks::Rescue done,
                      hooks::collect_dead_rings(found.rings, log, command));
  fmt::print("{}: {} of {}\n", printable(done.log), counted(done.packets, "packet"),
             counted(done.rings, "ring"));
  return static_cast<int>(kOk);
}

}  // namespace

Run trcdead_command(OptionTable& table) {
  auto options = std::make_shared<DeadOptions>();
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
  return [options](const Invocation& call) {
    const auto status = rescue(*options, call.program);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
