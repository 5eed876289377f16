#include "cli/serve_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "agent/packets.h"
#include "base/open.h"
#include "base/text.h"
#include "cli/unknown_option.h"
#include "cli/version.h"
#include "server/connection/transport.h"

namespace tracewell::cli {
namespace {

constexpr std::string_view kForms =
    "COMM is where a debugger connects: unix:PATH; HOST:PORT, [IPv6]:PORT, or :PORT for this\n"
    "machine only (there, only you and root are admitted; at an address of another interface\n"
    "everybody who reaches it, and whoever connects can do what you can do); a serial device;\n"
    "- or stdio. PORT 0 takes a free one.\n\n"
    "  serve [OPTIONS] COMM PROG [ARGS…]   starts PROG for the debugger\n"
    "  serve [OPTIONS] --attach COMM PID   takes a running process, which stands still until a\n"
    "                                      debugger lets it go on\n"
    "  serve [OPTIONS] --attach-running COMM PID\n"
    "                                      takes one that runs on; a debugger in non-stop mode\n"
    "                                      (set non-stop on) stops no more than one thread of it\n"
    "  serve [OPTIONS] --multi COMM        waits for what the debugger wants\n";

Error usage(std::string text) { return {Errc::InvalidArgument, std::move(text), {}}; }

/// The words behind the options are none of CLI11's, so it would leave them out of the usage line.
class ServeFormatter final : public CLI::Formatter {
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return fmt::format("Usage: {} [OPTIONS] COMM PROG [ARGS…]\n",
                       name.empty() ? app->get_name() : name);
  }
};

/// gdbserver's names that mean more than one packet, or less.
constexpr std::string_view kThreads = "threads", kStopReply = "T";
const std::vector<std::string_view> kAllOfThreads = {"vCont", "Tthread", "qC", "qfThreadInfo"};

std::vector<std::string_view> packets_to_disable() {
  std::vector<std::string_view> names = {kThreads, kStopReply};
  names.insert(names.end(), kAllOfThreads.begin(), kAllOfThreads.end());
  for (const agent::PacketEntry& entry : agent::packet_table()) {
    const std::string_view name = agent::without_separators(entry.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// A name that nobody knows would quietly disable nothing.
Status disable_packets(std::string_view text, std::set<std::string, std::less<>>& disabled) {
  const std::vector<std::string_view> known = packets_to_disable();
  for (const std::string_view name : split(text, ',')) {
    if (name.empty()) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      return usage(fmt::format("--disable-packet: there is no packet '{}'; there are {}",
                               printable(name), fmt::join(known, " ")));
    if (name == kThreads) disabled.insert(kAllOfThreads.begin(), kAllOfThreads.end());
    else disabled.emplace(name == kStopReply ? "Tstop" : name);
  }
  return {};
}

/// The words may be those of a program that the debugger is to start, so CLI11 takes any.
Error no_such_option(const std::string& word) {
  CLI::App app;
  ServeOptions unused;
  declare_serve_options(app, unused);
  return usage("no such option: " + printable(word) + near_options(app, word));
}

/// Whoever leaves out COMM has the program in its place.
Error program_is_missing(const std::string& comm) {
  const auto parsed = server::parse_comm(comm);
  if (!parsed) return parsed.error();
  const auto facts = facts_at(comm);
  if (facts && facts->kind == FileFacts::Kind::Regular)
    return usage(fmt::format("COMM is missing: where the debugger connects, such as :0, comes "
                             "before {}",
                             printable(comm)));
  return usage("PROG is missing (or --multi, or --attach)");
}

}  // namespace

void add_allow_users(CLI::App& app, std::string& text) {
  app.add_option("--allow-users", text,
                 "Who may connect on this machine besides you and root: names or numbers with "
                 "commas between them, or any (everybody; what they can do then is what you can)")
      ->type_name("NAME,…");
}

void declare_serve_options(CLI::App& app, ServeOptions& options) {
  app.prefix_command();
  app.formatter(std::make_shared<ServeFormatter>());
  app.footer(std::string(kForms));
  app.set_version_flag("--version", fmt::format("{} {}", app.get_name(), version()));
  app.add_flag("--attach", options.attach, "Attach to the running process PID");
  app.add_flag("--attach-running", options.attach_running,
               "… and let it run until a debugger stops it");
  app.add_flag("--multi", options.multi, "Start without a program, and stay until told to end");
  app.add_flag("--once", options.once, "End when the first debugger's connection does");
  app.add_flag("--wrapper", options.wrapper_follows,
               "Start programs through the command that follows, up to a lone --");
  auto& launch = options.launch;
  app.add_flag("--disable-randomization,!--no-disable-randomization", launch.disable_randomization,
               "Give programs the same addresses each time (default)");
  app.add_flag("--startup-with-shell,!--no-startup-with-shell", launch.startup_with_shell,
               "Start programs by a shell, which expands their arguments (default)");
  add_allow_users(app, options.allow_users);
  app.add_flag("--debug", options.debug, "Say what the server does");
  app.add_flag("--remote-debug", options.remote_debug, "Show the packets");
  app.add_flag("--selftest", options.selftest, "Accepted for gdbserver's sake: there are none");
  app.add_flag("--event-loop-debug", options.ignored, "Accepted for gdbserver's sake");
  app.add_option("--disable-packet", options.disabled_packets,
                 "Know nothing of these packets (names with commas): any packet's name, T (stop "
                 "replies), Tthread (their thread), threads (vCont, Tthread, qC, qfThreadInfo)");
  app.add_option("--buffer", options.buffer,
                 "Keep the trace buffer in this file, which outlives a server that is killed "
                 "(default: a new one that `tracewell buffers` lists)")
      ->type_name("FILE");
  app.add_option("--fast-tracepoints", options.fast_tracepoints,
                 "Which tracepoints do not stop the program where that can be had: all, those that "
                 "were asked for by `ftrace`, or none; `monitor set fast-tracepoints` changes it")
      ->check(CLI::IsMember({"all", "asked", "none"}))
      ->capture_default_str();
  app.add_option("--save-dir", options.save_dir,
                 "GDB's `tsave -r` may write trace files there, and nowhere else")
      ->type_name("DIR");
  app.add_flag("--save-overwrite", options.save_overwrite, "… also over files that exist");
  app.add_option("--debug-file", options.debug_file, "Debugging output goes there");
  app.add_option("--debug-format", options.debug_format,
                 "What its lines begin with: none, timestamp or all");
}

Status finish_serve_options(std::vector<std::string> words, ServeOptions& options) {
  while (options.wrapper_follows) {
    options.wrapper_follows = false;
    const auto end = std::find(words.begin(), words.end(), "--");
    if (end == words.begin() || end == words.end())
      return usage("--wrapper takes a command, and -- after it");
    options.launch.wrapper.assign(words.begin(), end);
    words.erase(words.begin(), end + 1);
    CLI::App again;
    declare_serve_options(again, options);
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
      again.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return usage(error.what());
    }
    words = again.remaining();
  }
  TW_RETURN_IF_ERROR(disable_packets(options.disabled_packets, options.disabled));
  if (options.selftest) return {};
  if (words.empty()) return usage("COMM is missing");
  if (words[0].size() > 1 && words[0][0] == '-') return no_such_option(words[0]);
  options.comm = std::move(words[0]);
  words.erase(words.begin());
  options.attach |= options.attach_running;
  // The old place of the option.
  if (!words.empty() && words[0] == "--attach") {
    options.attach = true;
    words.erase(words.begin());
  }
  if (options.attach) {
    auto pid = words.size() == 1 ? parse_number(words[0]) : std::nullopt;
    if (!pid || *pid == 0 || *pid > INT32_MAX)
      return usage(fmt::format("--attach{} takes COMM and one PID",
                               options.attach_running ? "-running" : ""));
    options.pid = static_cast<int64_t>(*pid);
    return {};
  }
  if (words.empty() && !options.multi) return program_is_missing(options.comm);
  options.launch.argv = std::move(words);
  return {};
}

}  // namespace tracewell::cli
