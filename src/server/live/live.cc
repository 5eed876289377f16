#include "server/live/live.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "agent/buffer/trace_source.h"
#include "agent/engine/engine.h"
#include "server/buffers/buffer_files.h"
#include "server/connection/link.h"
#include "server/guardian.h"
#include "server/live/print_queue.h"
#include "server/live/standing_time.h"
#include "server/quit_signals.h"
#include "target/linux/linux_target.h"

namespace tracewell::server {
namespace {

/// At the end: for who reads none of what was printed, and for who reads some now and then. Less
/// after a signal.
constexpr PrintQueue::Patience kLastPrints{1000, 10'000}, kPrintsAtQuit{200, 1000};

/// The first process, if there is to be one.
Result<std::optional<target::StopEvent>> first_process(target::Target& target,
                                                       const LiveOptions& options,
                                                       const ServeLog& log) {
  auto* processes = target.process_control();
  if (options.attach_running) TW_RETURN_IF_ERROR(target.non_stop()->set_non_stop(true));
  if (options.attach) {
    TW_ASSIGN_OR_RETURN(auto event, processes->attach(*options.attach));
    log.notice(fmt::format("Attached; pid = {}", event.pid));
    return std::optional(std::move(event));
  }
  if (options.launch.argv.empty()) return std::optional<target::StopEvent>();
  if (options.launch.keep_stdio_free) log.notice("stdin/stdout redirected");
  TW_ASSIGN_OR_RETURN(auto event, processes->launch(options.launch));
  log.notice(fmt::format("Process {} created; pid = {}", options.launch.argv[0], event.pid));
  return std::optional(std::move(event));
}

/// `monitor set NAME VALUE`.
bool set(std::string_view name, std::string_view value, ServeSettings& settings,
         agent::Engine& trace) {
  if (name != "fast-tracepoints") return settings.set(name, value);
  const auto use = agent::parse_fast_use(value);
  if (use) trace.use_fast(*use);
  return use.has_value();
}

ServerOptions server_options(const LiveOptions& options, ServeSettings& settings,
                             agent::Engine& trace) {
  ServerOptions out;
  out.once = options.once;
  out.multi = options.multi;
  out.killed = face_is_gone;
  out.ending = [&trace](ServerEnd end) {
    if (end == ServerEnd::Failed) trace.abandon();
    else if (face_is_gone()) trace.buffer().memory().abandon();  // told behind the last deed
    else trace.keep_unseen(false);
  };
  out.ended = [&trace] { trace.keep_unseen(true); };
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
  out.session.refuse_junk =
      options.comm.kind == Comm::Kind::Tcp || options.comm.kind == Comm::Kind::Unix;
  return out;
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

/// Who waits for the server learns where it is.
void announce(const Transport& transport, const LiveOptions& options, const ServeLog& log) {
  if (std::string text = transport.announcement(); !text.empty()) log.notice(text);
  if (std::string text = transport.warning(); !text.empty()) log.notice("tracewell: " + text);
  // Where standard output is the connection, GDB may be on another machine.
  if (is_of_this_machine(options.comm) && options.comm.kind != Comm::Kind::Stdio &&
      options.tells_of_sysroot)
    log.notice("tracewell: GDB on this machine connects sooner after `set sysroot /`, "
               "unless the program is in a container or its file was replaced");
}

}  // namespace

Result<LiveEnd> serve_live(LiveOptions options, ServeSettings& settings) {
  ServeLog& log = settings.log;
  const auto notice = [&log](std::string_view line) { log.notice(line); };
  const bool stdio = options.comm.kind == Comm::Kind::Stdio;
  options.launch.keep_stdio_free = stdio;
  become_guarded(options.tell);
  TW_RETURN_IF_ERROR(note_quit_signals());
  log.quit_fd = quit_signal_fd();
  watch_face();
  DoorRules rules;
  rules.admission = options.admission;
  rules.notice = notice;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport,
                      Transport::open(options.comm, std::move(rules)));

  const auto target = target::make_linux_target(target_options(log, transport));
  target->facts()->give_up = [] { return quit_signal() != 0; };
  const auto began = StandingTime::Clock::now();
  TW_ASSIGN_OR_RETURN(auto first, first_process(*target, options, log));
  agent::Engine trace(*target);
  trace.use_fast(options.fast);
  trace.keep_buffer_in(buffer_home(options.buffer, stdio, notice));
  announce(*transport, options, log);

  auto server = server_options(options, settings, trace);
  // Where standard output carries the protocol, what breakpoint commands print goes beside it.
  PrintQueue prints(stdio ? STDERR_FILENO : STDOUT_FILENO, quit_signal_fd());
  server.session.print = [&prints](std::string_view text) { prints.print(text); };
  Link link(*transport, quit_signal_fd(), [&] { target->wake(); });
  TW_RETURN_IF_ERROR(link.status());
  ServerLoop loop(*target, &trace, link, std::move(server));
  if (options.attach_running) loop.set_alone();
  else if (first) loop.set_last_stop(*std::move(first));
  if (options.attach && !options.attach_running) loop.stands_since(began);
  const ServerEnd end = loop.run();
  if (const uint64_t unread = prints.finish(kLastPrints, kPrintsAtQuit); unread != 0)
    log.notice(fmt::format("tracewell: nobody read {} of the texts that breakpoint commands "
                           "printed", unread));
  return LiveEnd{end, quit_signal()};
}

}  // namespace tracewell::server
