#include "cli/serve_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text/text.h"
#include "cli/options/option.h"
#include "cli/options/parse.h"
#include "cli/options/unknown_option.h"
#include "cli/version.h"

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

/// The words may be those of a program that the debugger is to start, so any are taken.
Error no_such_option(const std::string& word) {
  OptionTable table("", "");
  ServeOptions unused;
  add_serve_options(table, unused);
  return usage("no such option: " + printable(word) + near_options(table, word));
}

/// Which program, and how it comes to run.
void add_start_options(OptionTable& table, ServeOptions& options) {
  table.add({
      {.names = "--version",
       .to = ShowText{fmt::format("{} {}", table.program, version())},
       .what = "Display program version information and exit"},
      {.names = "--attach", .to = &options.attach, .what = "Attach to the running process PID"},
      {.names = "--attach-running",
       .to = &options.attach_running,
       .what = "… and let it run until a debugger stops it"},
      {.names = "--multi",
       .to = &options.multi,
       .what = "Start without a program, and stay until told to end"},
      {.names = "--once",
       .to = &options.once,
       .what = "End when the first debugger's connection does"},
      {.names = "--wrapper",
       .to = &options.wrapper_follows,
       .what = "Start programs through the command that follows, up to a lone --"},
      {.names = "--disable-randomization,!--no-disable-randomization",
       .to = &options.launch.disable_randomization,
       .what = "Give programs the same addresses each time (default)"},
      {.names = "--startup-with-shell,!--no-startup-with-shell",
       .to = &options.launch.startup_with_shell,
       .what = "Start programs by a shell, which expands their arguments (default)"},
  });
}

void add_debug_options(OptionTable& table, ServeOptions& options) {
  table.add({
      {.names = "--debug", .to = &options.debug, .what = "Say what the server does"},
      {.names = "--remote-debug", .to = &options.remote_debug, .what = "Show the packets"},
      {.names = "--selftest",
       .to = &options.selftest,
       .what = "Accepted for gdbserver's sake: there are none"},
      {.names = "--event-loop-debug",
       .to = &options.ignored,
       .what = "Accepted for gdbserver's sake"},
      {.names = "--disable-packet",
       .to = &options.disabled_packets,
       .value = "TEXT",
       .what = "Know nothing of these packets (names with commas): any packet's name, T (stop "
               "replies), Tthread (their thread), threads (vCont, Tthread, qC, qfThreadInfo)"},
  });
}

/// What is traced, and where it goes.
void add_trace_options(OptionTable& table, ServeOptions& options) {
  table.add({
      {.names = "--buffer",
       .to = &options.buffer,
       .value = "FILE",
       .what = "Keep the trace buffer in this file, which outlives a server that is killed "
               "(default: a new one that `tracewell buffers` lists)",
       .completes = Completes::File},
      {.names = "--fast-tracepoints",
       .to = &options.fast_tracepoints,
       .value = "TEXT",
       .what = "Which tracepoints do not stop the program where that can be had: all, those that "
               "were asked for by `ftrace`, or none; `monitor set fast-tracepoints` changes it",
       .otherwise = "all",
       .choices = {"all", "asked", "none"},
       .shows_otherwise = true},
      {.names = "--save-dir",
       .to = &options.save_dir,
       .value = "DIR",
       .what = "GDB's `tsave -r` may write trace files there, and nowhere else",
       .completes = Completes::Folder},
      {.names = "--save-overwrite",
       .to = &options.save_overwrite,
       .what = "… also over files that exist"},
  });
}

}  // namespace

void add_allow_users(OptionTable& table, std::string& text) {
  table.add({{.names = "--allow-users",
              .to = &text,
              .value = "NAME,…",
              .what = "Who may connect on this machine besides you and root: names or numbers with "
                      "commas between them, or any (everybody; what they can do then is what you "
                      "can)",
              .completes = Completes::User,
              .separator = ','}});
}

void add_serve_options(OptionTable& table, ServeOptions& options) {
  table.usage = "[OPTIONS] COMM PROG [ARGS…]";
  table.footer = kForms;
  table.rest = &options.words;
  add_start_options(table, options);
  add_allow_users(table, options.allow_users);
  add_debug_options(table, options);
  add_trace_options(table, options);
  table.add({
      {.names = "--debug-file",
       .to = &options.debug_file,
       .value = "TEXT",
       .what = "Debugging output goes there",
       .completes = Completes::File},
      {.names = "--debug-format",
       .to = &options.debug_format,
       .value = "TEXT",
       .what = "What its lines begin with: none, timestamp or all",
       .otherwise = "none",
       .choices = {"none", "timestamp", "all"},
       .open = true},
  });
}

Status finish_serve_options(ServeOptions& options) {
  std::vector<std::string> words = std::move(options.words);
  while (options.wrapper_follows) {
    options.wrapper_follows = false;
    const auto end = std::find(words.begin(), words.end(), "--");
    if (end == words.begin() || end == words.end())
      return usage("--wrapper takes a command, and -- after it");
    options.launch.wrapper.assign(words.begin(), end);
    words.erase(words.begin(), end + 1);
    OptionTable again("", "");
    add_serve_options(again, options);
    TW_ASSIGN_OR_RETURN(const auto shown, parse_options(again, words));
    if (shown) return usage("--help and --version stand before --wrapper");
    words = std::move(options.words);
  }
  TW_RETURN_IF_ERROR(server::disable_packets(options.disabled_packets, options));
  if (options.selftest) return {};
  if (!words.empty() && words[0].size() > 1 && words[0][0] == '-') return no_such_option(words[0]);
  return server::take_words(std::move(words), options);
}

}  // namespace tracewell::cli
