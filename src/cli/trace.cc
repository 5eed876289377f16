// tracewell trace: starts a session of trace hooks; without -a, asks what to do with it. The
// command line is that of AIX's trace as far as it makes sense here; docs/how-to/trace-a-program.md
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/hook_groups.h"
#include "cli/hook_session.h"
#include "cli/trace_collector.h"
#include "hooks/defaults.h"
#include "hooks/session.h"

namespace tracewell::cli {
namespace {

constexpr int kChannelStatus = 64;  // + channel: exit status for trcstart()

struct TraceOptions {
  bool background = false, generic = false, circular = false, single = false;
  bool keep_old = false, off = false, system = false, stop_when_full = false;
  bool status_channel = false, record_cpus = false;
  std::string log_size, buffer_size, only, except, only_groups, except_groups;
  std::string processes, threads, propagation, cpus;
  std::string log, message, components, until_end_of, beside;
};

struct Refused {
  const char* name;
  const char* why;
};
/// Why, and what does it instead.
constexpr Refused kRefused[] = {
    {"-b", "buffers are files, and no kernel heap is used; -T says how large they are"},
    {"-B", "buffers are files, and there are no segments; -T says how large they are"},
    {"-h", "the header is part of the log's format; `report -h` leaves it out"},
    {"-I", "interrupts have no trace hooks; `perf record -e irq:*` has their events"},
    {"-M",
     "maps of processes are not in a log, whose hooks are words and no addresses to look up; keep "
     "/proc/PID/maps beside it while the program runs"},
    {"-N",
     "a log has no table of the kernel's names and locks, since no hook is the kernel's; -n notes "
     "the system, and `perf lock` looks at locks"},
    {"-r",
     "the registers it means (PURR, PMC1, …) are POWER's; -p records the processor, `perf stat -p "
     "PID` counts what the processor does, and a hook can have any number as a word"},
    {"-W", "there are no workload partitions; -A and -t choose processes and threads"},
    {"-@", "there are no workload partitions; -A and -t choose processes and threads"},
};

Result<uint64_t> size_of(const std::string& text, const char* option, uint64_t otherwise) {
  if (text.empty()) return otherwise;
  if (const auto size = size_in_bytes(text); size && *size > 0) return *size;
  return {Errc::InvalidArgument, fmt::format("{}: '{}' is no size", option, printable(text))};
}

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

Result<unsigned> free_channel(const hooks::Control& control) {
  for (unsigned i = 1; i < TRACEWELL_HOOK_CHANNELS; ++i)
    if (control.channel(i).active == 0) return i;
  return {Errc::Limit, "all channels from 1 to 7 are in use"};
}

Result<std::string> log_path(const TraceOptions& options, unsigned channel) {
  std::error_code error;
  std::filesystem::path path = options.log;
  if (options.log == "-")
    return {Errc::InvalidArgument, "-o -: a log is a folder, and cannot be written to a pipe"};
  if (options.log.empty()) {
    path = hooks::default_log();
    if (channel != 0) path += fmt::format("-{}", channel);
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return {Errc::Io, fmt::format("cannot make {}: {}", path.parent_path().string(),
                                    error.message())};
  }
  path = std::filesystem::absolute(path, error).lexically_normal();
  return path.string();
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
  if (!options.only.empty()) TW_RETURN_IF_ERROR(add(hook_ids(options.only), *out.only));
  if (!options.only_groups.empty())
    TW_RETURN_IF_ERROR(add(hooks_of_groups(options.only_groups), *out.only));
  if (!options.except.empty()) TW_RETURN_IF_ERROR(add(hook_ids(options.except), out.except));
  if (options.except_groups.empty()) return {};
  return add(hooks_of_groups(options.except_groups), out.except);
}

Status add_numbers(const std::string& text, const char* option, std::vector<uint32_t>& to) {
  for (const std::string_view word : list_words(text)) {
    const auto number = parse_number(word);
    if (!number || *number == 0 || *number > INT32_MAX)
      return {Errc::InvalidArgument,
              fmt::format("{}: '{}' is no number of a process or thread", option,
                          printable(word))};
    to.push_back(static_cast<uint32_t>(*number));
  }
  return {};
}

/// -A, -t and -P.
Status choose_threads(const TraceOptions& options, hooks::SessionOptions& out) {
  TW_RETURN_IF_ERROR(add_numbers(options.processes, "-A", out.processes));
  TW_RETURN_IF_ERROR(add_numbers(options.threads, "-t", out.threads));
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
  for (const std::string_view word : list_words(options.cpus)) {
    const auto cpu = parse_number(word);
    if (!cpu || *cpu >= static_cast<uint64_t>(known))
      return {Errc::InvalidArgument,
              fmt::format("-C: '{}' is no processor of this machine: 0 to {}, or all",
                          printable(word), known - 1)};
    out.cpus.push_back(static_cast<uint32_t>(*cpu));
  }
  if (out.cpus.empty()) return {Errc::InvalidArgument, "-C: no processors are named"};
  return {};
}

/// AIX's rule: two buffers fit the log. What was not asked for is made to fit.
Status choose_sizes(const TraceOptions& options, hooks::SessionOptions& out) {
  TW_ASSIGN_OR_RETURN(const hooks::Defaults defaults, hooks::read_defaults());
  TW_ASSIGN_OR_RETURN(out.buffer_bytes,
                      size_of(options.buffer_size, "-T",
                              defaults.buffer_bytes.value_or(out.buffer_bytes)));
  TW_ASSIGN_OR_RETURN(out.log_bytes,
                      size_of(options.log_size, "-L", defaults.log_bytes.value_or(0)));
  const uint64_t fits = options.single ? out.log_bytes : out.log_bytes / 2;
  if (out.log_bytes != 0 && out.buffer_bytes > fits) {
    if (!options.buffer_size.empty())
      return {Errc::InvalidArgument,
              fmt::format("-T: a buffer has at most {} ({} bytes; -L makes it larger)",
                          options.single ? "the size of the log" : "half of the log", fits)};
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
  TW_ASSIGN_OR_RETURN(out.log, log_path(options, channel));
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

/// Its exit status as a shell tells it.
int run_shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The dialogue of a trace in the foreground; ends with the trace.
Status ask(hooks::Control& control, unsigned channel) {
  for (std::string line;;) {
    fmt::print("-> ");
    std::fflush(stdout);
    if (!std::getline(std::cin, line) || line == "q" || line == "quit" || line == "trcstop")
      return hooks::stop_session(control, channel);
    Status status;
    if (line == "trcon" || line == "trcoff")
      status = hooks::switch_tracing(control, channel, line == "trcon");
    else if (line.starts_with('!'))
      run_shell(line.substr(1));
    else if (!line.empty())
      fmt::print("trcon     go on with tracing\ntrcoff    interrupt it\n!COMMAND  run a command\n"
                 "q, quit   end the trace\n");
    if (!status.ok()) fmt::print(stderr, "trace: {}\n", status.error().text());
  }
}

/// What ctctrl would do with these words.
Status set_up_components(const std::string& words) {
  if (words.empty()) return {};
  std::vector<std::string> arguments = {"ctctrl"};
  for (const std::string_view word : list_words(words)) arguments.emplace_back(word);
  const int status = run_program(arguments);
  if (status == kOk) return {};
  return {status == kNothing ? Errc::NotFound : Errc::InvalidArgument,
          fmt::format("-e '{}' was not done", printable(words))};
}

Result<int> trace(const TraceOptions& options, const std::string& command) {
  TW_ASSIGN_OR_RETURN(hooks::Control control, hooks::Control::open());
  unsigned channel = 0;
  if (options.generic) {
    TW_ASSIGN_OR_RETURN(channel, free_channel(control));
  }
  TW_ASSIGN_OR_RETURN(const hooks::SessionOptions session, session_of(options, channel, command));
  TW_RETURN_IF_ERROR(set_up_components(options.components));
  TW_RETURN_IF_ERROR(hooks::start_session(control, session));
  if (session.buffering == hooks::Buffering::Alternate) {
    if (Status status = start_collector(control, channel); !status.ok()) {
      static_cast<void>(hooks::stop_session(control, channel));
      return std::move(status).error();
    }
  }
  tell_unseen_programs();
  if (!options.until_end_of.empty()) {
    const int status = run_shell(options.until_end_of);
    TW_RETURN_IF_ERROR(hooks::stop_session(control, channel));
    return status;
  }
  if (!options.beside.empty()) return run_shell(options.beside);
  if (options.status_channel) return kChannelStatus + static_cast<int>(channel);
  if (options.background) return static_cast<int>(channel);
  TW_RETURN_IF_ERROR(ask(control, channel));
  return static_cast<int>(kOk);
}

void add_options(CLI::App& app, TraceOptions& options) {
  app.set_help_flag("--help", "print this help and exit");
  app.add_flag("-a", options.background, "return at once; trcstop ends the trace");
  app.add_flag("-g", options.generic, "a free channel from 1 to 7; it is the exit status")
      ->needs("-a");
  auto* circular =
      app.add_flag("-l", options.circular, "circular: the newest in each thread's buffer is kept");
  app.add_flag("-f", options.single, "single: what comes first in each thread's buffer is kept")
      ->excludes(circular);
  app.add_option("-T", options.buffer_size, "size of a thread's buffer: 512k, 2m (the default)")
      ->type_name("SIZE");
  app.add_option("-L", options.log_size,
                 "size of the log, whose oldest part goes then; without, it grows")
      ->type_name("SIZE");
  app.add_flag("-s", options.stop_when_full, "stop when the log has the size of -L");
  app.add_option("-j", options.only, "only these hooks: 010,02 (020 to 02f),1230")
      ->type_name("HOOKS");
  app.add_option("-k", options.except, "all but these hooks")->type_name("HOOKS");
  app.add_option("-J", options.only_groups, "only hooks of these groups, and of -j (trcevgrp -l)")
      ->type_name("GROUPS");
  app.add_option("-K", options.except_groups, "all but hooks of these groups, and of -k")
      ->type_name("GROUPS");
  app.add_option("-A", options.processes, "only hooks of these processes")->type_name("PIDS");
  app.add_option("-t", options.threads, "only hooks of these threads")->type_name("TIDS");
  app.add_option("-P", options.propagation,
                 "p: and of processes that these start, and so on; t: and of all threads of the "
                 "processes of -t; n: of nobody else")
      ->type_name("p|t|n")
      ->check(CLI::IsMember({"p", "t", "n"}));
  app.add_option("-C", options.cpus, "only hooks on these processors, 0,1, or all; implies -p")
      ->type_name("CPUS");
  app.add_flag("-p", options.record_cpus, "each entry says on which processor it was made");
  app.add_option("-o", options.log, "the log, a folder")->type_name("LOG");
  app.add_flag("-c", options.keep_old, "keep the old log as LOG.old");
  app.add_flag("-d", options.off, "begin with tracing off; trcon turns it on");
  app.add_option("-e", options.components, "first set up component trace, as ctctrl WORDS does")
      ->type_name("WORDS");
  app.add_option("-m", options.message, "a note for the log")->type_name("TEXT");
  app.add_flag("-n", options.system, "note the system in the log");
  auto* until = app.add_option("-x", options.until_end_of, "trace while this command runs");
  until->type_name("COMMAND");
  app.add_option("-X", options.beside, "the same, but go on tracing behind its end")
      ->type_name("COMMAND")
      ->excludes(until);
  app.add_flag("--status-channel", options.status_channel)->group("");
  for (const Refused& one : kRefused)
    app.add_flag_callback(one.name, [one] { throw CLI::ValidationError(one.name, one.why); })
        ->group("");
}

}  // namespace

Run trace_command(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  add_options(app, *options);
  app.footer(
      "Records the hooks (tracewell/hooks.h, sys/trcmacros.h) of this user's programs, whether\n"
      "they run already or start later. Without -a, -x, -X it asks: trcon, trcoff, !COMMAND, q.\n"
      "LOG is $TRACEWELL_LOG where -o is not given; without that, /var/adm/ras/trcfile for root\n"
      "and $XDG_STATE_HOME/tracewell/trcfile for others. It is a CTF 1.8 trace, which babeltrace2\n"
      "reads too.");
  return [options](const Invocation& call) -> int {
    std::string command = call.program;
    for (const std::string& word : call.arguments) command += " " + word;
    const auto status = trace(*options, command);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
