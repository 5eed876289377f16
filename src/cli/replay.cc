// tracewell replay FILE COMM: a recorded trace behind the remote protocol, for stock GDB.
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "agent/session/session.h"
#include "cli/command.h"
#include "cli/command_work.h"
#include "cli/images.h"
#include "cli/options/option.h"
#include "cli/serve_options.h"
#include "cli/trace_files.h"
#include "server/connection/transport.h"
#include "server/log.h"
#include "server/quit_signals.h"
#include "server/replay/opening.h"
#include "server/replay/recording.h"
#include "server/replay/replay_loop.h"
#include "trace/replayed.h"

namespace tracewell::cli {
namespace {

struct ReplayOptions {
  trace::InputOptions input;
  std::string comm;
  trace::ImageOptions images;
  std::string allow_users;
  bool once = false;
  bool remote_debug = false;
};

agent::SessionOptions session_options(const server::ServeLog& log) {
  agent::SessionOptions session;
  // Whoever looks at a trace sees the files that belong to it, and no others of this machine.
  session.files = agent::SessionOptions::Files::Listed;
  session.notice = [&log](std::string_view line) { log.notice(line); };
  session.log_packet = [&log](bool received, std::string_view text) { log.packet(received, text); };
  return session;
}

/// Doubts and problems are told to standard error.
Result<std::unique_ptr<server::Recording>> open_recording(const ReplayOptions& options,
                                                          const Work& work,
                                                          const trace::HowToOpen& how,
                                                          const server::ServeLog& log) {
  TW_ASSIGN_OR_RETURN(trace::Replayed opened,
                      trace::open_replayed(options.input, options.images, how,
                                           server::fits_a_packet, work));
  if (opened.frames != nullptr)
    return server::recording_of_frames(opened.frames, std::move(opened.images),
                                       [&log](std::string_view line) { log.notice(line); });
  const Catalog& catalog = opened.history->catalog();
  return server::recording_of_steps(std::move(opened.history), catalog, std::move(opened.images),
                                    std::move(opened.notes));
}

/// Both must outlive it.
server::Opening::Work opening_work(const ReplayOptions& options, const server::ServeLog& log) {
  return [&options, &log](const std::atomic<bool>& stop, std::atomic<bool>& writes) {
    Work work = command_work(true);
    work.stop = [&stop, signalled = std::move(work.stop)] { return stop || signalled(); };
    return open_recording(options, work,
                          {.spool = true, .writes = [&writes](bool begun) { writes = begun; }},
                          log);
  };
}

int status_of_end(const UniqueFd& quit) {
  const int signal = server::take_quit_signal(quit);
  return signal != 0 ? 128 + signal : static_cast<int>(kOk);
}

Result<int> replay(const ReplayOptions& options) {
  TW_ASSIGN_OR_RETURN(const server::Comm comm, server::parse_comm(options.comm));
  server::ServeLog log(STDERR_FILENO);
  log.packets = options.remote_debug;
  server::DoorRules rules;
  rules.notice = [&log](std::string_view line) { log.notice(line); };
  TW_ASSIGN_OR_RETURN(rules.admission, server::Admission::parse(options.allow_users));
  if (comm.kind == server::Comm::Kind::Stdio && options.input.path == "-")
    return {Errc::InvalidArgument, "standard input cannot be both the trace and the connection"};
  // Nobody is told to come to what cannot be opened. What takes longer is seen while they come.
  // There is nothing to end cleanly yet: until here a signal ends us at once, also where a file is
  // a pipe that nobody writes to, or was made to take long.
  TW_RETURN_IF_ERROR(trace::is_replayable(options.input, options.images));
  TW_ASSIGN_OR_RETURN(const UniqueFd quit, server::hold_quit_signals());
  log.quit_fd = quit.get();
  TW_ASSIGN_OR_RETURN(std::unique_ptr<server::Transport> transport,
                      server::Transport::open(comm, rules));
  if (const std::string text = transport->announcement(); !text.empty()) log.notice(text);
  if (const std::string text = transport->warning(); !text.empty())
    log.notice("tracewell: " + text);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<server::Opening> opening,
                      server::Opening::start(opening_work(options, log)));
  const Status served = server::serve_recorded(*transport, *opening, session_options(log),
                                               options.once, quit.get());
  transport.reset();  // its socket goes, however we end
  const int status = served.ok() ? status_of_end(quit) : exit_status(served.error());
  if (!opening->stop()) {
    if (!served.ok()) fail(served.error());
    std::_Exit(status);
  }
  TW_RETURN_IF_ERROR(served);
  return status;
}

}  // namespace

Run replay_command(OptionTable& table) {
  auto options = std::make_shared<ReplayOptions>();
  add_input_options(table, options->input);
  table.add({{.names = "COMM",
              .to = &options->comm,
              .what = "where GDB connects to: unix:PATH, HOST:PORT, [IPv6]:PORT, :PORT (loopback), "
                      "a serial device, or - for standard input and output",
              .required = true}});
  add_image_options(table, options->images, "read-only memory and symbols");
  add_allow_users(table, options->allow_users);
  table.add({
      {.names = "--once",
       .to = &options->once,
       .what = "end after the first debugger's connection"},
      {.names = "--remote-debug", .to = &options->remote_debug, .what = "show the packets"},
  });
  return [options](const Invocation&) {
    const auto status = replay(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
