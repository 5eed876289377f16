// trcdead FILE: what trace hooks left in rings that nobody will collect any more, from the core
// file of their program, or from the folder of a log whose session was never ended.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/hook_session.h"
#include "hooks/dead_rings.h"
#include "hooks/session.h"

namespace tracewell::cli {
namespace {

struct DeadOptions {
  std::string path, log;
  std::optional<unsigned> channel;
};

/// The log that the rings lay in, if they did.
std::string log_of_rings(const std::vector<hooks::DeadRing>& rings) {
  for (const hooks::DeadRing& one : rings)
    if (!one.path.empty())
      return std::filesystem::path(one.path).parent_path().parent_path().string();
  return "";
}

Result<int> rescue(const DeadOptions& options, const std::string& command) {
  const std::string path = options.path.empty() ? hooks::default_log() : options.path;
  TW_ASSIGN_OR_RETURN(std::vector<hooks::DeadRing> rings, hooks::find_dead_rings(path));
  if (options.channel)
    std::erase_if(rings, [&](const auto& one) { return one.head.channel != *options.channel; });
  std::string log = options.log;
  if (log.empty()) log = log_of_rings(rings);
  if (log.empty()) log = hooks::default_log();
  std::error_code error;
  log = std::filesystem::absolute(log, error).lexically_normal().string();
  TW_ASSIGN_OR_RETURN(const hooks::Rescue done, hooks::collect_dead_rings(rings, log, command));
  fmt::print("{}: {} of {}\n", printable(done.log), counted(done.packets, "packet"),
             counted(done.rings, "ring"));
  return static_cast<int>(kOk);
}

}  // namespace

Run trcdead_command(CLI::App& app) {
  auto options = std::make_shared<DeadOptions>();
  app.add_option("FILE", options->path,
                 "a core file, a log whose session was never ended, or a ring in it");
  app.add_option("-o", options->log, "the log that they go to")->type_name("LOG");
  add_channel_options(app, options->channel);
  app.footer(
      "Without FILE, it is the log that trace has by default; without -o, the log that the rings\n"
      "lay in. A core file has the rings whose files were gone when the program died, and names\n"
      "those that were there. A log takes rings of its own session only.\n"
      "Exit status: 1 if there are no rings.");
  return [options](const Invocation& call) {
    const auto status = rescue(*options, call.program);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
