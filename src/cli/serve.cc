// serve: the live agent, with gdbserver's command line. tracewell-gdbserver is the same with
// gdbserver's exit status.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/engine.h"
#include "agent/trace_source.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/buffer_files.h"
#include "cli/command.h"
#include "cli/guardian.h"
#include "cli/print_queue.h"
#include "cli/save_folder.h"
#include "cli/serve_log.h"
#include "cli/serve_options.h"
#include "cli/server_loop.h"
#include "cli/standing_time.h"
#include "cli/thread_db_path.h"
#include "cli/transport.h"
#include "formats/tracebuffer.h"
#include "target/linux/linux_target.h"

namespace tracewell::cli {
namespace {

/// At the end: for who reads none of what was printed, and for who reads some now and then. Less
/// after a signal.
constexpr PrintQueue::Patience kLastPrints{1000, 10'000}, kPrintsAtQuit{200, 1000};

// What a signal handler can reach.
int quit_pipe[2] = {-1, -1};
volatile std::sig_atomic_t quit_signal = 0;

void on_quit_signal(int number) {
  // A second one changes nothing: without an orderly end, a program that was attached to would run
  // into the patches that are still in its code.
  if (quit_signal != 0) return;
  quit_signal = number;
  (void)!::write(quit_pipe[1], "q", 1);
}

void on_pipe_signal(int) {}

/// Handlers rather than SIG_IGN: programs that we start would inherit the latter.
Status catch_quit_signals() {
  if (::pipe2(quit_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return errno_error("cannot wait for signals");
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_quit_signal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  action.sa_handler = on_pipe_signal;
  ::sigaction(SIGPIPE, &action, nullptr);
  return {};
}

/// How errors are told and what the exit status is.
class Conventions {
 public:
  explicit Conventions(const Invocation& invocation) : gdbserver_(invocation.by_own_name) {}
  int fail(const Error& error) const {
    // "Nothing found" would be a result; a process that is not there is none.
    if (!gdbserver_) {
      const int status = cli::fail(error);
      return status == kNothing ? kSystem : status;
    }
    fmt::print(stderr, "{}.\nExiting\n", error.text());
    return 1;
  }
  bool gdbserver() const { return gdbserver_; }

 private:
  bool gdbserver_;
};

/// The first process, if the command line names one.
Result<std::optional<target::StopEvent>> first_process(target::Target& target,
                                                       const ServeOptions& options,
                                                       const ServeLog& log) {
  auto* processes = target.process_control();
  if (options.attach_running) TW_RETURN_IF_ERROR(target.non_stop()->set_non_stop(true));
  if (options.attach) {
    TW_ASSIGN_OR_RETURN(auto event, processes->attach(options.pid));
    log.notice(fmt::format("Attached; pid = {}", event.pid));
    return std::optional(std::move(event));
  }
  if (options.launch.argv.empty()) return std::optional<target::StopEvent>();
  if (options.launch.keep_stdio_free) log.notice("stdin/stdout redirected");
  TW_ASSIGN_OR_RETURN(auto event, processes->launch(options.launch));
  log.notice(fmt::format("Process {} created; pid = {}", options.launch.argv[0], event.pid));
  return std::optional(std::move(event));
}

/// What `monitor set` changes.
struct Settings {
  ServeLog log{STDERR_FILENO};
  SaveFolder saves;
  ThreadDbPath thread_db;
};

/// `monitor set NAME VALUE`.
bool set(std::string_view name, std::string_view value, Settings& settings,
         agent::Engine& trace) {
  if (name == "save-dir") return settings.saves.set_folder(std::string(value)).ok();
  if (name == "libthread-db-search-path") {
    settings.thread_db.set(std::string(value));
    return true;
  }
  if (name == "fast-tracepoints") {
    const auto use = agent::parse_fast_use(value);
    if (use) trace.use_fast(*use);
    return use.has_value();
  }
  if (name != "save-overwrite") return settings.log.set(name, value);
  if (value != "0" && value != "1") return false;
  settings.saves.set_overwrite(value == "1");
  return true;
}

ServerOptions server_options(const ServeOptions& options, Settings& settings,
                             agent::Engine& trace) {
  ServerOptions out;
  out.once = options.once;
  out.multi = options.multi;
  out.killed = face_is_gone;
  out.ending = [&trace](ServerEnd end) {
    if (end == ServerEnd::Failed || face_is_gone()) trace.abandon();
    else trace.keep_unseen();
  };
  out.session.launch = options.launch;
  out.session.disabled = options.disabled;
  out.session.samples = options.attach_running;
  out.session.notice = [&settings](std::string_view line) { settings.log.notice(line); };
  out.session.log_packet = [&settings](bool received, std::string_view text) {
    settings.log.packet(received, text);
  };
  out.session.set = [&settings, &trace](std::string_view name, std::string_view value) {
    return set(name, value, settings, trace);
  };
  out.session.thread_locals = [&settings] { return settings.thread_db.found(); };
  out.session.save = [&settings, &trace](std::string_view name,
                                         const agent::GoOn& go_on) {
    agent::TraceBufferSource frames(trace.buffer(), trace.catalog());
    return settings.saves.save(name, frames, [&] { return go_on(agent::Inbox::kLookBytes); });
  };
  return out;
}

/// The line that names the file comes with the first run, not at the start: scripts wait for
/// gdbserver's first lines, and who never traces has no file.
agent::BufferHome buffer_home(const std::string& path, bool is_pipe, const ServeLog& log) {
  return {
      .make =
          [path, &log] {
            if (!path.empty()) return agent::BufferFile::create(path);
            return make_buffer_file([&log](std::string_view line) { log.notice(line); });
          },
      .describe = formats::tracebuffer_description,
      .notice = [&log](std::string_view line) { log.notice(line); },
      .server_pid = server_pid(),
      .is_unread_at_end = is_pipe};
}

/// The file is made by the first run, but whoever starts the server learns at once that it cannot
/// be.
Status check_buffer(const std::string& path) {
  if (path.empty()) return {};
  if (::access(path.c_str(), F_OK) == 0)
    return {Errc::InvalidArgument,
            fmt::format("{} exists; it may be a trace that a killed server left",
                        printable(path))};
  if (::access((parent_of(path) + "/.").c_str(), W_OK | X_OK) == 0) return {};
  return errno_error("cannot make " + printable(path));
}

/// Borrowed until the target has gone.
target::LinuxOptions target_options(const ServeLog& log, std::unique_ptr<Transport>& transport) {
  const auto tell = [&log](std::string_view line) {
    log.notice(fmt::format("tracewell: {}", line));
  };
  const auto stay = [&transport, tell](const std::string& why) {
    transport.reset();
    tell(fmt::format("{}: the process that traces ({}) stays behind until it does", why,
                     ::getpid()));
    return stay_behind();
  };
  return {.notice = tell, .stay = stay, .front = server_pid()};
}

/// From the process that its user started, while the one that traces may not be able to.
void say(std::string_view text) {
  fmt::print(stderr, "tracewell: {}\n", text);
  std::fflush(stderr);
}

int serve(ServeOptions& options, const Conventions& conventions) {
  Settings settings;
  ServeLog& log = settings.log;
  log.debug = !options.debug.empty();
  log.packets = options.remote_debug;
  if (auto status = log.set_file(options.debug_file); !status)
    return conventions.fail(std::move(status).error().within("--debug-file"));
  if (!log.set_format(options.debug_format))
    return conventions.fail({Errc::InvalidArgument, "--debug-format: none, timestamp or all", {}});
  settings.saves.set_overwrite(options.save_overwrite);
  if (auto status = settings.saves.set_folder(options.save_dir); !status)
    return conventions.fail(std::move(status).error().within("--save-dir"));

  if (auto status = check_buffer(options.buffer); !status)
    return conventions.fail(std::move(status).error().within("--buffer"));

  auto comm = parse_comm(options.comm);
  if (!comm) return conventions.fail(comm.error());
  DoorRules rules;
  rules.notice = [&log](std::string_view line) { log.notice(line); };
  if (auto admission = Admission::parse(options.allow_users); admission)
    rules.admission = *std::move(admission);
  else
    return conventions.fail(admission.error());
  options.launch.keep_stdio_free = comm->kind == Comm::Kind::Stdio;
  become_guarded(say);
  if (auto status = catch_quit_signals(); !status) return conventions.fail(status.error());
  log.quit_fd = quit_pipe[0];
  watch_face();
  auto transport = Transport::open(*comm, std::move(rules));
  if (!transport) return conventions.fail(transport.error());

  const auto target = target::make_linux_target(target_options(log, *transport));
  target->facts()->give_up = [] { return quit_signal != 0; };
  const auto began = StandingTime::Clock::now();
  auto first = first_process(*target, options, log);
  if (!first) return conventions.fail(first.error());
  agent::Engine trace(*target);
  trace.use_fast(*agent::parse_fast_use(options.fast_tracepoints));
  trace.keep_buffer_in(buffer_home(options.buffer, comm->kind == Comm::Kind::Stdio, log));
  if (std::string text = (*transport)->announcement(); !text.empty()) log.notice(text);
  if (std::string text = (*transport)->warning(); !text.empty()) log.notice("tracewell: " + text);
  // Where standard output is the connection, GDB may be on another machine.
  if (is_of_this_machine(*comm) && comm->kind != Comm::Kind::Stdio && !conventions.gdbserver())
    log.notice("tracewell: GDB on this machine connects sooner after `set sysroot /`, "
               "unless the program is in a container or its file was replaced");

  auto server = server_options(options, settings, trace);
  server.session.refuse_junk =
      comm->kind == Comm::Kind::Tcp || comm->kind == Comm::Kind::Unix;
  // Where standard output carries the protocol, what breakpoint commands print goes beside it.
  PrintQueue prints(comm->kind == Comm::Kind::Stdio ? STDERR_FILENO : STDOUT_FILENO, quit_pipe[0]);
  server.session.print = [&prints](std::string_view text) { prints.print(text); };
  Link link(**transport, quit_pipe[0], [&] { target->wake(); });
  if (!link.status()) return conventions.fail(link.status().error());
  ServerLoop loop(*target, &trace, link, std::move(server));
  if (options.attach_running) loop.set_alone();
  else if (*first) loop.set_last_stop(**std::move(first));
  if (options.attach && !options.attach_running) loop.stands_since(began);
  const ServerEnd end = loop.run();
  if (const uint64_t unread = prints.finish(kLastPrints, kPrintsAtQuit); unread != 0)
    log.notice(fmt::format("tracewell: nobody read {} of the texts that breakpoint commands "
                           "printed", unread));
  switch (end) {
    case ServerEnd::Done: return kOk;
    case ServerEnd::Interrupted: return 128 + quit_signal;
    case ServerEnd::Failed: break;
  }
  return kSystem;
}

}  // namespace

Run serve_command(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  declare_serve_options(app, *options);
  return [&app, options](const Invocation& invocation) {
    const Conventions conventions(invocation);
    if (auto status = finish_serve_options(app.remaining(), *options); !status) {
      fmt::print(stderr, "{}: {}\nTry '{} --help'.\n", invocation.program, status.error().text(),
                 invocation.program);
      return invocation.by_own_name ? 1 : static_cast<int>(cli::kUsage);
    }
    if (options->selftest) {
      fmt::print("Selftests have been disabled for this build.\n");
      return static_cast<int>(kOk);
    }
    try {
      return serve(*options, conventions);
    } catch (const std::bad_alloc&) {  // what was attached to has been let go
      return conventions.fail(out_of_memory());
    }
  };
}

}  // namespace tracewell::cli
