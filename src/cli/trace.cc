// tracewell trace: starts a session of trace hooks; without -a, asks what to do with it. The
// command line is that of AIX's trace as far as it makes sense here; docs/how-to/trace-a-program.md
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/process/held_signals.h"
#include "base/text/text.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "hooks/foreground/dialogue.h"
#include "hooks/foreground/foreground_trace.h"
#include "hooks/foreground/input_lines.h"
#include "hooks/programs/confined_programs.h"
#include "hooks/session/notices.h"
#include "hooks/session/session.h"
#include "hooks/session/start_collector.h"
#include "hooks/words/hook_ids.h"
#include "hooks/words/session_words.h"
#include "hooks/words/sizes.h"

namespace tracewell::cli {
namespace {

using hooks::Waited;

constexpr int kChannelStatus = 64;  // + channel: exit status for trcstart()

struct TraceOptions {
  bool background = false, generic = false, status_channel = false, confined = false;
  hooks::SessionWords session;
  std::string components, until_end_of, beside;
};

/// What ctctrl would do with these words.
Status set_up_components(const std::string& words) {
  if (words.empty()) return {};
  std::vector<std::string> arguments = {"ctctrl"};
  for (const std::string_view word : hooks::list_words(words)) arguments.emplace_back(word);
  const int status = run_program(arguments);
  if (status == kOk) return {};
  return {status == kNothing ? Errc::NotFound : Errc::InvalidArgument,
          fmt::format("-e '{}' was not done", printable(words))};
}

/// What was printed stands before what the command prints.
Result<Waited> run_shell(const std::string& command, const HeldSignals& signals) {
  std::fflush(stdout);
  return hooks::run_shell(command, blocked_before(), signals);
}

/// The dialogue. Ctrl-C ends it, and so do other signals and the end of standard input.
Waited ask(hooks::Control& control, unsigned channel, const HeldSignals& signals) {
  hooks::InputLines lines(STDIN_FILENO);
  hooks::Dialogue dialogue(control, channel, [&](const std::string& command) {
    return run_shell(command, signals);
  });
  Waited out;
  for (;;) {
    fmt::print("-> ");
    std::fflush(stdout);
    const auto line = lines.next(signals, out.signal);
    if (!line) break;
    const hooks::Dialogue::Answer answer = dialogue.answer(*line);
    fmt::print("{}", answer.text);
    if (!answer.status.ok()) fmt::print(stderr, "trace: {}\n", answer.status.error().text());
    out.signal = answer.signal;
    if (answer.ends) break;
    hooks::tell_collectors(control, command_work());
  }
  if (out.signal == SIGINT) {  // the usual way to end what one looks at
    out.signal = 0;
    fmt::print("\n");
  }
  return out;
}

/// Until somebody ends it, or the command of -x is done; a signal to us ends it, too.
Result<int> trace_in_foreground(hooks::Control& control, const hooks::SessionOptions& session,
                                const std::string& command) {
  const HeldSignals signals;
  const auto wait = [&]() -> Result<Waited> {
    if (command.empty()) return ask(control, session.channel, signals);
    return run_shell(command, signals);
  };
  TW_ASSIGN_OR_RETURN(const hooks::ForegroundEnd done,
                      hooks::trace_in_foreground(control, session, signals, {wait, end_by},
                                                 command_work()));
  const int signal = done.waited.signal;
  if (!done.stopped.ok() && signal != 0) fail(done.stopped.error());
  if (signal != 0) end_by(signal);
  TW_RETURN_IF_ERROR(done.stopped);
  return done.waited.status;
}

Result<int> trace(const TraceOptions& options, const std::string& command) {
  TW_ASSIGN_OR_RETURN(hooks::Control control, hooks::Control::open());
  hooks::tell_collectors(control, command_work());
  unsigned channel = 0;
  if (options.generic) {
    TW_ASSIGN_OR_RETURN(channel, hooks::free_channel(control));
  }
  TW_ASSIGN_OR_RETURN(const hooks::SessionOptions session,
                      hooks::read_session(options.session, channel, command, believed_files(),
                                          command_work()));
  if (!options.confined) TW_RETURN_IF_ERROR(hooks::kills_nobody());
  TW_RETURN_IF_ERROR(set_up_components(options.components));
  const bool goes_on = options.background || options.status_channel || !options.beside.empty();
  if (!options.until_end_of.empty() || !goes_on)
    return trace_in_foreground(control, session, options.until_end_of);
  TW_RETURN_IF_ERROR(hooks::begin_trace(control, session));
  hooks::tell_unseen_programs(command_work());
  if (!options.beside.empty()) {
    const HeldSignals signals;
    TW_ASSIGN_OR_RETURN(const Waited waited, run_shell(options.beside, signals));
    if (waited.signal != 0) end_by(waited.signal);
    return waited.status;
  }
  if (options.status_channel) return kChannelStatus + static_cast<int>(channel);
  // A channel's number is the exit status of what went wrong, too, and then this is not printed.
  if (options.generic) fmt::print("channel {}: {}\n", channel, printable(session.log));
  return static_cast<int>(channel);
}

/// How much is kept, and where.
void add_buffer_options(OptionTable& table, TraceOptions& options) {
  hooks::SessionWords& words = options.session;
  table.add({
      {.names = "-a", .to = &options.background, .what = "return at once; trcstop ends the trace"},
      {.names = "-g",
       .to = &options.generic,
       .what = "a free channel from 1 to 7; its number is printed, and is the exit status",
       .needs = "-a"},
      {.names = "-l",
       .to = &words.circular,
       .what = "circular: the newest in each thread's buffer is kept"},
      {.names = "-f",
       .to = &words.single,
       .what = "single: what comes first in each thread's buffer is kept",
       .excludes = "-l"},
      {.names = "-T",
       .to = &words.buffer_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = fmt::format("size of a thread's buffer, {} to {}: 512k, 2m (the default)",
                           hooks::size_text(hooks::kBufferLimits.least),
                           hooks::size_text(hooks::kBufferLimits.most)),
       .otherwise = "2m"},
      {.names = "-L",
       .to = &words.log_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "size of the log, whose oldest part goes then; without, it grows"},
      {.names = "-s",
       .to = &words.stop_when_full,
       .what = "stop when the log has the size of -L: hooks are off then"},
  });
}

/// Which hooks, of whom.
void add_hook_options(OptionTable& table, hooks::SessionWords& words) {
  table.add({
      {.names = "-j",
       .to = &words.only,
       .value = "HOOKS",
       .what = "only these hooks: 010,02 (020 to 02f),1230"},
      {.names = "-k", .to = &words.except, .value = "HOOKS", .what = "all but these hooks"},
      {.names = "-J",
       .to = &words.only_groups,
       .value = "GROUPS",
       .what = "only hooks of these groups, and of -j (trcevgrp -l)",
       .completes = Completes::HookGroup,
       .separator = ','},
      {.names = "-K",
       .to = &words.except_groups,
       .value = "GROUPS",
       .what = "all but hooks of these groups, and of -k",
       .completes = Completes::HookGroup,
       .separator = ','},
      {.names = "-A",
       .to = &words.processes,
       .value = "PIDS",
       .what = "only hooks of these processes",
       .completes = Completes::Process,
       .separator = ','},
      {.names = "-t",
       .to = &words.threads,
       .value = "TIDS",
       .what = "only hooks of these threads"},
      {.names = "-P",
       .to = &words.propagation,
       .value = "p|t|n",
       .what = "p: and of processes that these start, and so on; t: and of all threads of the "
               "processes of -t; n: of nobody else",
       .otherwise = "n",
       .choices = {"p", "t", "n"}},
      {.names = "-C",
       .to = &words.cpus,
       .value = "CPUS",
       .what = "only hooks on these processors, 0,1, or all; implies -p"},
      {.names = "-p",
       .to = &words.record_cpus,
       .what = "each entry says on which processor it was made"},
  });
}

void add_log_options(OptionTable& table, TraceOptions& options) {
  hooks::SessionWords& words = options.session;
  table.add({
      {.names = "-o",
       .to = &words.log,
       .value = "LOG",
       .what = "the log, a folder",
       .completes = Completes::Folder},
      {.names = "-c", .to = &words.keep_old, .what = "keep the old log as LOG.old"},
      {.names = "-d", .to = &words.off, .what = "begin with tracing off; trcon turns it on"},
      {.names = "-e",
       .to = &options.components,
       .value = "WORDS",
       .what = "first set up component trace, as ctctrl WORDS does"},
      {.names = "-m", .to = &words.message, .value = "TEXT", .what = "a note for the log"},
      {.names = "-n", .to = &words.system, .what = "note the system in the log"},
      {.names = "--confined",
       .to = &options.confined,
       .what = "also where a program restricts its system calls (seccomp); its filter may kill it "
               "for what a hook does (tracewell/hooks.h)"},
      {.names = "-x",
       .to = &options.until_end_of,
       .value = "COMMAND",
       .what = "trace while this command runs",
       .completes = Completes::Command},
      {.names = "-X",
       .to = &options.beside,
       .value = "COMMAND",
       .what = "the same, but go on tracing behind its end",
       .completes = Completes::Command,
       .excludes = "-x"},
      {.names = "--status-channel", .to = &options.status_channel, .hidden = true},
  });
}

/// Why, and what does it instead.
void add_refused_options(OptionTable& table) {
  constexpr std::string_view kNoPartitions =
      "there are no workload partitions; -A and -t choose processes and threads";
  const auto refuse = [&table](std::string_view names, std::string_view why) {
    table.add({{.names = names, .to = Refused{why}, .hidden = true}});
  };
  refuse("-b", "buffers are files, and no kernel heap is used; -T says how large they are");
  refuse("-B", "buffers are files, and there are no segments; -T says how large they are");
  refuse("-h", "the header is part of the log's format; `report -h` leaves it out");
  refuse("-I", "interrupts have no trace hooks; `perf record -e irq:*` has their events");
  refuse("-M", "maps of processes are not in a log, whose hooks are words and no addresses to look "
               "up; keep /proc/PID/maps beside it while the program runs");
  refuse("-N", "a log has no table of the kernel's names and locks, since no hook is the kernel's; "
               "-n notes the system, and `perf lock` looks at locks");
  refuse("-r", "the registers it means (PURR, PMC1, …) are POWER's; -p records the processor, "
               "`perf stat -p PID` counts what the processor does, and a hook can have any number "
               "as a word");
  refuse("-W", kNoPartitions);
  refuse("-@", kNoPartitions);
}

}  // namespace

Run trace_command(OptionTable& table) {
  auto options = std::make_shared<TraceOptions>();
  table.set_help("--help", "print this help and exit");
  add_buffer_options(table, *options);
  add_hook_options(table, options->session);
  add_log_options(table, *options);
  add_refused_options(table);
  refuse_nothing(table, "-m");  // a message alone may be empty
  table.footer =
      "Records the hooks (tracewell/hooks.h, sys/trcmacros.h) of this user's programs, whether\n"
      "they run already or start later. Without -a, -x, -X it asks: trcon, trcoff, !COMMAND, q.\n"
      "LOG is $TRACEWELL_LOG where -o is not given; without that, /var/adm/ras/trcfile for root\n"
      "and $XDG_STATE_HOME/tracewell/trcfile for others; on channels 1 to 7 (-g) with the number\n"
      "behind it: trcfile-1. It is a CTF 1.8 trace, which babeltrace2 reads too.\n"
      "Exit status: with -x and -X that of COMMAND. With -a -g the number of the channel, 1 to 7,\n"
      "and \"channel N: LOG\" is printed; where nothing is printed, the status is an error's.";
  return [options](const Invocation& call) -> int {
    const auto status = trace(*options, hooks::command_text(call.program, call.arguments));
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
