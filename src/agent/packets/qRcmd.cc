// qRcmd,<hex of a command>: GDB's `monitor`. Scripts look for the first line of the help and for
// "Quit GDBserver" at its end, to tell what they talk to.
#include "agent/packets.h"
#include "base/hex.h"
#include "base/text.h"

namespace tracewell::agent {
namespace {

constexpr std::string_view kHelp =
    "The following monitor commands are supported:\n"
    "  set debug <0|1>\n"
    "    Say what the server does\n"
    "  set remote-debug <0|1>\n"
    "    Show the packets\n"
    "  set debug-file [FILE]\n"
    "    Where to; without FILE, standard error\n"
    "  set debug-format <none|all|timestamp>\n"
    "    What each line begins with\n"
    "  set save-dir [DIR]\n"
    "    Where `tsave -r` may write; without DIR, nowhere\n"
    "  set save-overwrite <0|1>\n"
    "    May it replace files?\n"
    "  help\n"
    "    This text\n"
    "  exit\n"
    "    Quit GDBserver\n";

/// gdbserver's words for what is switched on or off.
struct Switch {
  std::string_view name, what;
};
constexpr Switch kSwitches[] = {{"debug", "Debug output"},
                                {"remote-debug", "Protocol debug output"},
                            {"save-overwrite", "Overwriting files that were saved"},
                                {"debug-format", "All extra debug format options"}};

std::string confirmation(std::string_view name, std::string_view value) {
  for (const Switch& one : kSwitches)
    if (one.name == name) {
      const bool off = value == "0" || value == "none" || value.empty();
      return std::string(one.what) + (off ? " disabled.\n" : " enabled.\n");
    }
  return "";
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
  if (command == "help") {
    session.console(kHelp);
  } else if (command == "exit") {
    session.finish_server();
  } else if (command.starts_with("set ")) {
    std::string_view value = trim(command.substr(4));
    const std::string_view name = take_until(value, ' ');
    value = trim(value);
    if (session.options.set && session.options.set(name, value)) {
      session.console(confirmation(name, value));
    } else {
      session.console("There is no such setting, or it has no such value.\n");
      return reply.error(1);
    }
  } else {
    session.console("Unknown monitor command; try `monitor help`.\n");
    return reply.error(1);
  }
  reply.ok();
}

}  // namespace tracewell::agent
