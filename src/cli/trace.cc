// tracewell trace: starts a session of trace hooks; without -a, asks what to do with it. The
// command line is that of AIX's trace as far as it makes sense here; docs/how-to/trace-a-program.md
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/message.h"
#include "base/owners.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/held_signals.h"
#include "cli/hook_session.h"
#include "cli/options/option.h"
#include "cli/trace_foreground.h"
#include "hooks/control/defaults.h"
#include "hooks/log/log_use.h"
#include "hooks/programs/confined_programs.h"
#include "hooks/programs/own_process.h"
#include "hooks/session/session.h"
#include "hooks/session/session_guard.h"
#include "hooks/session/start_collector.h"
#include "hooks/words/hook_ids.h"
#include "hooks/words/sizes.h"

namespace tracewell::cli {
namespace {

constexpr int kChannelStatus = 64;  // + channel: exit status for trcstart()

struct TraceOptions {
  bool background = false, generic = false, circular = false, single = false;
  bool keep_old = false, off = false, system = false, stop_when_full = false;
  bool status_channel = false, record_cpus = false, confined = false;
  std::string log_size, buffer_size, only, except, only_groups, except_groups;
  std::string processes, threads, propagation, cpus;
  std::string log, message, components, until_end_of, beside;
};

std::string system_text() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} {} {} {}", name.sysname, name.release, name.version, name.machine);
}

std::string host_name() {
  utsname name{};
  ::uname(&name);
  return name.nodename;
}

/// As a shell reads it back as one word.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<unsigned> free_channel(const hooks::Control& control) {
  for (unsigned i = 1; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active == 0) return i;
  return {Errc::Limit, "all channels from 1 to 7 are in use"};
}

Result<std::string> chosen_log(const TraceOptions& options, unsigned channel) {
  std::string path = options.log;
  if (options.log == "-")
    return {Errc::InvalidArgument, "-o -: a log is a folder, and cannot be written to a pipe"};
  if (options.log.empty()) {
    auto usual = hooks::default_log(hooks::StateUse::Write);
    if (!usual.ok()) {
      usual.error().message += " (-o names another log)";
      return usual.error();
    }
    path = *std::move(usual);
    if (channel != 0) path += fmt::format("-{}", channel);
    const std::string folder = parent_of(path);
    if (auto made = make_folders(folder); !made.ok())
      return hinting(std::move(made).error(), printable(folder), "(-o names another log)");
  }
  return hooks::log_path(path);
}

/// Those of -j and the groups of -J, without those of -k and -K.
Status choose_hooks(const TraceOptions& options, hooks::SessionOptions& out) {
  using Hooks = std::vector<uint16_t>;
  const auto add = [](Result<Hooks> more, Hooks& to) -> Status {
    if (!more.ok()) return std::move(more).error();
    to.insert(to.end(), more->begin(), more->end());
    return {};
  };
  if (!options.only.empty() || !options.only_groups.empty()) out.only.emplace();
  if (!options.only.empty()) TW_RETURN_IF_ERROR(add(hooks::hook_ids(options.only), *out.only));
  if (!options.only_groups.empty())
    TW_RETURN_IF_ERROR(add(hooks_of_own_groups(options.only_groups), *out.only));
  if (!options.except.empty()) TW_RETURN_IF_ERROR(add(hooks::hook_ids(options.except), out.except));
  if (options.except_groups.empty()) return {};
  return add(hooks_of_own_groups(options.except_groups), out.except);
}

Status add_numbers(const std::string& text, const char* option, std::vector<uint32_t>& to) {
  for (const std::string_view word : hooks::list_words(text)) {
    const auto number = parse_number(word);
    if (!number || *number == 0 || *number > INT32_MAX)
      return {Errc::InvalidArgument,
              fmt::format("{}: '{}' is no number of a process or thread", option,
                          printable(word))};
    to.push_back(static_cast<uint32_t>(*number));
  }
  return {};
}

/// A trace sees programs of its own user only.
Status check_ours(const std::vector<uint32_t>& numbers, const char* option) {
  for (const uint32_t number : numbers) {
    const std::string folder = fmt::format("/proc/{}", number);
    if (!is_there(folder) && is_there("/proc/self"))
      return {Errc::InvalidArgument,
              fmt::format("{}: there is no {} {}", option,
                          std::string_view(option) == "-A" ? "process" : "thread", number)};
    const auto users = hooks::users_of_process(folder);
    if (users && !is_own_user(users->effective))
      return {Errc::InvalidArgument,
              fmt::format("{}: {} is another user's (user {}); a trace sees programs of user {} "
                          "only, who runs it",
                          option, number, users->effective, ::geteuid())};
  }
  return {};
}

/// -A, -t and -P.
Status choose_threads(const TraceOptions& options, hooks::SessionOptions& out) {
  TW_RETURN_IF_ERROR(add_numbers(options.processes, "-A", out.processes));
  TW_RETURN_IF_ERROR(add_numbers(options.threads, "-t", out.threads));
  TW_RETURN_IF_ERROR(check_ours(out.processes, "-A"));
  TW_RETURN_IF_ERROR(check_ours(out.threads, "-t"));
  if (options.propagation == "p") out.propagation = TRACEWELL_PROPAGATE_PROCESSES;
  if (options.propagation == "t") out.propagation = TRACEWELL_PROPAGATE_THREADS;
  if (out.propagation != 0 && out.processes.empty() && out.threads.empty())
    return {Errc::InvalidArgument, "-P needs -A or -t: from whom?"};
  return {};
}

/// -C and -p.
Status choose_cpus(const TraceOptions& options, hooks::SessionOptions& out) {
  out.record_cpus = options.record_cpus || !options.cpus.empty();
  if (options.cpus.empty() || options.cpus == "all") return {};
  const long known = ::sysconf(_SC_NPROCESSORS_CONF);
  for (const std::string_view word : hooks::list_words(options.cpus)) {
    const auto cpu = parse_number(word);
    if (!cpu || *cpu >= static_cast<uint64_t>(known))
      return {Errc::InvalidArgument,
              fmt::format("-C: '{}' is no processor of this machine: 0 to {}, or all",
                          printable(word), known - 1)};
    out.cpus.push_back(static_cast<uint32_t>(*cpu));
  }
  return {};
}

/// What the command line says; the defaults, which somebody may have written by hand; `otherwise`.
Result<uint64_t> size_of(const std::string& text, const char* option,
                         const std::optional<uint64_t>& standard, uint64_t otherwise,
                         const hooks::SizeLimits& limits) {
  if (!text.empty()) return hooks::size_within(text, option, limits);
  if (!standard) return otherwise;
  return hooks::size_within(fmt::format("{}", *standard), fmt::format("trcctl {}", option), limits);
}

/// AIX's rule: two buffers fit the log. What was not asked for is made to fit, and that is told.
Status choose_sizes(const TraceOptions& options, hooks::SessionOptions& out) {
  believed_path(hooks::defaults_path());  // says so where it is not
  TW_ASSIGN_OR_RETURN(const hooks::Defaults defaults, hooks::read_defaults());
  const uint64_t buffers = options.single ? 1 : 2;
  TW_ASSIGN_OR_RETURN(out.buffer_bytes, size_of(options.buffer_size, "-T", defaults.buffer_bytes,
                                                out.buffer_bytes, hooks::kBufferLimits));
  TW_ASSIGN_OR_RETURN(out.log_bytes, size_of(options.log_size, "-L", defaults.log_bytes, 0,
                                             hooks::log_limits(buffers)));
  const uint64_t fits = out.log_bytes / buffers;
  if (out.log_bytes != 0 && out.buffer_bytes > fits) {
    if (!options.buffer_size.empty())
      return {Errc::InvalidArgument,
              fmt::format("-T: a buffer has at most {} ({} bytes; -L makes it larger)",
                          options.single ? "the size of the log" : "half of the log", fits)};
    fmt::print(stderr,
               "tracewell: a thread's buffer has {}, not {}, since {} the log of {} (-L); -L {} "
               "leaves it as it is\n",
               hooks::size_text(fits), hooks::size_text(out.buffer_bytes),
               options.single ? "it is to fit" : "two are to fit", hooks::size_text(out.log_bytes),
               hooks::size_text(out.buffer_bytes * buffers));
    out.buffer_bytes = fits;
  }
  if (defaults.user_buffer_max && ::geteuid() != 0 && out.buffer_bytes > *defaults.user_buffer_max)
    return {Errc::InvalidArgument,
            fmt::format("-T: a buffer has at most {} bytes here (trcctl -N)",
                        *defaults.user_buffer_max)};
  return {};
}

Result<hooks::SessionOptions> session_of(const TraceOptions& options, unsigned channel,
                                         const std::string& command) {
  hooks::SessionOptions out;
  out.channel = channel;
  out.buffering = options.circular ? hooks::Buffering::Circular
                  : options.single ? hooks::Buffering::Single
                                   : hooks::Buffering::Alternate;
  TW_RETURN_IF_ERROR(choose_sizes(options, out));
  if (options.stop_when_full && out.log_bytes == 0)
    return {Errc::InvalidArgument, "-s needs -L: when is the log full?"};
  out.stop_when_full = options.stop_when_full;
  out.off = options.off;
  out.keep_old_log = options.keep_old;
  TW_ASSIGN_OR_RETURN(out.log, chosen_log(options, channel));
  TW_RETURN_IF_ERROR(choose_hooks(options, out));
  TW_RETURN_IF_ERROR(choose_threads(options, out));
  TW_RETURN_IF_ERROR(choose_cpus(options, out));
  out.facts = {{"hostname", host_name()},
               {"command", command},
               {"mode", options.circular ? "circular" : options.single ? "single" : "alternate"}};
  if (out.record_cpus) {
    const auto known = static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_CONF));
    out.facts.emplace_back("cpus", fmt::format("{}", known));
    out.facts.emplace_back("traced_cpus",
                           fmt::format("{}", out.cpus.empty() ? known : out.cpus.size()));
  }
  if (!options.message.empty()) out.facts.emplace_back("message", options.message);
  if (options.system) out.facts.emplace_back("system", system_text());
  return out;
}

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

/// Begins the session, and what takes its hooks to the log.
Status start(hooks::Control& control, const hooks::SessionOptions& session) {
  TW_RETURN_IF_ERROR(hooks::start_session(control, session));
  if (session.buffering != hooks::Buffering::Alternate) return {};
  Status status = hooks::start_collector(control, session.channel);
  if (!status.ok()) best_effort(hooks::stop_session(control, session.channel));
  return status;
}

/// Ends the session. Its collector may be held (stopped, or by a disk that does not answer), or the
/// one that another command waits for: then a signal ends us, and the guard, which lives on, ends
/// the session. Those that come at once are the first one again: `timeout` sends it twice.
Status stop_in_foreground(hooks::Control& control, unsigned channel, const HeldSignals& signals,
                          std::optional<Folder>& log) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point patient_until = Clock::now() + std::chrono::seconds(1);
  return hooks::stop_session(control, channel, hooks::Rest::Kept, [&] {
    const int signal = signals.take();
    if (signal != 0 && Clock::now() > patient_until) end_by(signal);
    return false;
  }, &log);
}

/// Until somebody ends it, or the command of -x is done; a signal to us ends it, too.
Result<int> trace_in_foreground(hooks::Control& control, const hooks::SessionOptions& session,
                                const std::string& command) {
  const HeldSignals signals;
  TW_RETURN_IF_ERROR(start(control, session));
  auto guard = hooks::SessionGuard::start(control, session.channel);
  if (!guard.ok()) {
    best_effort(hooks::stop_session(control, session.channel));
    return std::move(guard).error();
  }
  tell_unseen_programs();
  Waited waited;
  Status status;
  if (command.empty()) {
    waited = ask(control, session.channel, signals);
  } else if (auto done = run_shell(command, signals); done.ok()) {
    waited = *done;
  } else {
    status = done.error();
  }
  tell_collectors(control);
  std::optional<Folder> log;
  const Status stopped = stop_in_foreground(control, session.channel, signals, log);
  guard->dismiss();
  tell_lost_hooks(log, [&] {
    if (const int signal = signals.take(); signal != 0) end_by(signal);
    return false;
  });
  TW_RETURN_IF_ERROR(status);
  if (!stopped.ok() && waited.signal != 0) fail(stopped.error());
  if (waited.signal != 0) end_by(waited.signal);
  TW_RETURN_IF_ERROR(stopped);
  return waited.status;
}

Result<int> trace(const TraceOptions& options, const std::string& command) {
  TW_ASSIGN_OR_RETURN(hooks::Control control, hooks::Control::open());
  tell_collectors(control);
  unsigned channel = 0;
  if (options.generic) {
    TW_ASSIGN_OR_RETURN(channel, free_channel(control));
  }
  TW_ASSIGN_OR_RETURN(const hooks::SessionOptions session, session_of(options, channel, command));
  if (!options.confined) TW_RETURN_IF_ERROR(hooks::kills_nobody());
  TW_RETURN_IF_ERROR(set_up_components(options.components));
  const bool goes_on = options.background || options.status_channel || !options.beside.empty();
  if (!options.until_end_of.empty() || !goes_on)
    return trace_in_foreground(control, session, options.until_end_of);
  TW_RETURN_IF_ERROR(start(control, session));
  tell_unseen_programs();
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
  table.add({
      {.names = "-a", .to = &options.background, .what = "return at once; trcstop ends the trace"},
      {.names = "-g",
       .to = &options.generic,
       .what = "a free channel from 1 to 7; its number is printed, and is the exit status",
       .needs = "-a"},
      {.names = "-l",
       .to = &options.circular,
       .what = "circular: the newest in each thread's buffer is kept"},
      {.names = "-f",
       .to = &options.single,
       .what = "single: what comes first in each thread's buffer is kept",
       .excludes = "-l"},
      {.names = "-T",
       .to = &options.buffer_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = fmt::format("size of a thread's buffer, {} to {}: 512k, 2m (the default)",
                           hooks::size_text(hooks::kBufferLimits.least),
                           hooks::size_text(hooks::kBufferLimits.most)),
       .otherwise = "2m"},
      {.names = "-L",
       .to = &options.log_size,
       .value = "SIZE",
       .unit = "bytes",
       .what = "size of the log, whose oldest part goes then; without, it grows"},
      {.names = "-s",
       .to = &options.stop_when_full,
       .what = "stop when the log has the size of -L: hooks are off then"},
  });
}

/// Which hooks, of whom.
void add_hook_options(OptionTable& table, TraceOptions& options) {
  table.add({
      {.names = "-j",
       .to = &options.only,
       .value = "HOOKS",
       .what = "only these hooks: 010,02 (020 to 02f),1230"},
      {.names = "-k", .to = &options.except, .value = "HOOKS", .what = "all but these hooks"},
      {.names = "-J",
       .to = &options.only_groups,
       .value = "GROUPS",
       .what = "only hooks of these groups, and of -j (trcevgrp -l)",
       .completes = Completes::HookGroup,
       .separator = ','},
      {.names = "-K",
       .to = &options.except_groups,
       .value = "GROUPS",
       .what = "all but hooks of these groups, and of -k",
       .completes = Completes::HookGroup,
       .separator = ','},
      {.names = "-A",
       .to = &options.processes,
       .value = "PIDS",
       .what = "only hooks of these processes",
       .completes = Completes::Process,
       .separator = ','},
      {.names = "-t",
       .to = &options.threads,
       .value = "TIDS",
       .what = "only hooks of these threads"},
      {.names = "-P",
       .to = &options.propagation,
       .value = "p|t|n",
       .what = "p: and of processes that these start, and so on; t: and of all threads of the "
               "processes of -t; n: of nobody else",
       .otherwise = "n",
       .choices = {"p", "t", "n"}},
      {.names = "-C",
       .to = &options.cpus,
       .value = "CPUS",
       .what = "only hooks on these processors, 0,1, or all; implies -p"},
      {.names = "-p",
       .to = &options.record_cpus,
       .what = "each entry says on which processor it was made"},
  });
}

void add_log_options(OptionTable& table, TraceOptions& options) {
  table.add({
      {.names = "-o",
       .to = &options.log,
       .value = "LOG",
       .what = "the log, a folder",
       .completes = Completes::Folder},
      {.names = "-c", .to = &options.keep_old, .what = "keep the old log as LOG.old"},
      {.names = "-d", .to = &options.off, .what = "begin with tracing off; trcon turns it on"},
      {.names = "-e",
       .to = &options.components,
       .value = "WORDS",
       .what = "first set up component trace, as ctctrl WORDS does"},
      {.names = "-m", .to = &options.message, .value = "TEXT", .what = "a note for the log"},
      {.names = "-n", .to = &options.system, .what = "note the system in the log"},
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
  add_hook_options(table, *options);
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
    std::string command = call.program;
    for (const std::string& word : call.arguments) command += " " + shell_word(word);
    const auto status = trace(*options, command);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
