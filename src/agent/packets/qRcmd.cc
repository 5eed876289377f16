// qRcmd,<hex of a command>: GDB's `monitor`. Scripts look for the first line of the help and for
// "Quit GDBserver" at its end, to tell whether they talk to a server that can do what gdbserver
// can: so that stands there where programs run, and not where a recording is shown.
#include <fmt/format.h>

#include "agent/packets.h"
#include "agent/shared/monitor_history.h"
#include "agent/trace.h"
#include "base/text/hex.h"
#include "base/text/text.h"

namespace tracewell::agent {
namespace {

struct Setting {
  std::string_view name, values, purpose;
  std::string_view switched;  // gdbserver's words for what is on or off; "" = something else
};
constexpr std::string_view kThreadDb = "libthread-db-search-path";
constexpr std::string_view kFast = "fast-tracepoints";
constexpr Setting kSettings[] = {
    {"debug", "<0|1>", "Say what the server does", "Debug output"},
    {"remote-debug", "<0|1>", "Show the packets", "Protocol debug output"},
    {"debug-file", "[FILE]", "Where to; without FILE, standard error", ""},
    {"debug-format", "<none|all|timestamp>", "What each line begins with",
     "All extra debug format options"},
    {"save-dir", "[DIR]", "Where `tsave -r` may write; without DIR, nowhere", ""},
    {"save-overwrite", "<0|1>", "May it replace files?", "Overwriting files that were saved"},
    {kFast, "<all|asked|none>", "Which tracepoints of the next run do not stop the program", ""},
    {kThreadDb, "[DIRS]", "No thread-local variables unless libthread_db is in one of these", ""},
};

/// `settings`, `tracepoints`: are there any here? A recording has none.
std::string help(bool settings, bool tracepoints) {
  std::string out = "The following monitor commands are supported:\n";
  for (const Setting& one : kSettings)
    if (settings) out += fmt::format("  set {} {}\n    {}\n", one.name, one.values, one.purpose);
  if (tracepoints)
    out += "  tracepoints\n    How hits of each are collected, why so, and what a hit costs\n";
  return out + "  help\n    This text\n  exit\n    " +
         (settings ? "Quit GDBserver\n" : "End the replay\n");
}

std::string confirmation(std::string_view name, std::string_view value) {
  if (name == kThreadDb)
    return fmt::format("{} set to `{}'\n", name, value.empty() ? "$sdir:$pdir" : value);
  if (name == kFast) return fmt::format("Fast tracepoints, from the next run on: {}.\n", value);
  for (const Setting& one : kSettings)
    if (one.name == name && !one.switched.empty()) {
      const bool off = value == "0" || value == "none" || value.empty();
      return fmt::format("{} {}.\n", one.switched, off ? "disabled" : "enabled");
    }
  return "";
}

std::string refusal(std::string_view name, bool settings) {
  if (!settings) return "There are no settings here.\n";
  for (const Setting& one : kSettings)
    if (one.name == name) return fmt::format("{} is to be {}.\n", name, one.values);
  return fmt::format("There is no setting {}; try `monitor help`.\n", name);
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

void on_qRcmd(Session& session, std::string_view body, Reply& reply) {
  auto text = text_from_hex(body);
  if (!text) return reply.error(1);
  const std::string_view command = trim(*text);
  if (monitor_history(session, command, reply)) return;
  TraceControl* const control = session.trace ? session.trace->control() : nullptr;
  if (command == "help") {
    session.console(help(session.options.set != nullptr, control != nullptr));
    if (session.target.time_travel() != nullptr) session.console(kHistoryHelp);
  } else if (command == "tracepoints" && control != nullptr) {
    const std::vector<std::string> lines = control->describe_points();
    for (const std::string& line : lines) session.console(line + "\n");
    if (lines.empty()) session.console("There are no tracepoints.\n");
  } else if (command == "exit") {
    session.finish_server();
  } else if (command.starts_with("set ")) {
    std::string_view value = trim(command.substr(4));
    const std::string_view name = take_until(value, ' ');
    value = trim(value);
    if (session.options.set && session.options.set(name, value)) {
      session.console(confirmation(name, value));
    } else {
      session.console(refusal(name, session.options.set != nullptr));
      return reply.error(1);
    }
  } else {
    session.console("Unknown monitor command; try `monitor help`.\n");
    return reply.error(1);
  }
  reply.ok();
}

}  // namespace tracewell::agent
