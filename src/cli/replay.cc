// tracewell replay FILE COMM: a recorded trace behind the remote protocol, for stock GDB.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/recorded_trace.h"
#include "agent/session.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/replay_loop.h"
#include "cli/step_history.h"
#include "cli/trace_files.h"
#include "cli/transport.h"
#include "target/recorded/history_target.h"
#include "target/recorded/recorded_target.h"

namespace tracewell::cli {
namespace {

struct ReplayOptions {
  InputOptions input;
  std::string comm;
  ImageOptions images;
  bool once = false;
  bool remote_debug = false;
};

void tell(std::string_view line) { fmt::print(stderr, "{}\n", line); }

agent::SessionOptions session_options(const ReplayOptions& options,
                                      std::vector<std::string> files) {
  agent::SessionOptions session;
  // Whoever looks at a trace sees the files that belong to it, and no others of this machine.
  session.files = agent::SessionOptions::Files::Listed;
  session.listed_files = std::move(files);
  session.notice = tell;
  if (options.remote_debug)
    session.log_packet = [](bool received, std::string_view packet) {
      tell(fmt::format("{} {}", received ? "->" : "<-", printable(packet)));
    };
  return session;
}

/// Readable when the user wants us to end. Also keeps the signals from ending us halfway; to be
/// called before any thread starts.
Result<UniqueFd> catch_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::signal(SIGPIPE, SIG_IGN);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return errno_error("signals");
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return errno_error("signals");
  return fd;
}

/// The exit status: a signal's, if one has come.
int ended_by(const UniqueFd& signals) {
  signalfd_siginfo signal{};
  const bool came = ::read(signals.get(), &signal, sizeof signal) == sizeof signal;
  return came ? 128 + static_cast<int>(signal.ssi_signo) : static_cast<int>(kOk);
}

/// Registers travel in one packet, two digits a byte. A file may state any size.
Status fits_a_packet(const Catalog& catalog) {
  constexpr size_t kBlockMax = agent::Session::kPacketBytesMax / 2;
  if (catalog.registers.size_bytes <= kBlockMax) return {};
  return {Errc::Limit,
          fmt::format("the trace states register blocks of {} bytes; a packet carries at most {}",
                      catalog.registers.size_bytes, kBlockMax)};
}

Result<int> serve(const ReplayOptions& options, const Comm& comm, target::Target& target,
                  agent::Trace* trace, std::vector<std::string> files) {
  TW_ASSIGN_OR_RETURN(const UniqueFd quit, catch_signals());
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Transport> transport, Transport::open(comm));
  if (const std::string text = transport->announcement(); !text.empty()) tell(text);
  TW_RETURN_IF_ERROR(serve_recorded(*transport, target, trace,
                                    session_options(options, std::move(files)), options.once,
                                    quit.get()));
  return ended_by(quit);
}

Result<int> replay_frames(const ReplayOptions& options, const Comm& comm, const OpenTrace& trace) {
  const Catalog& catalog = trace.source->catalog();
  TW_RETURN_IF_ERROR(fits_a_packet(catalog));
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(catalog, options.images));
  target::RecordedTarget target(catalog, std::move(images));
  if (catalog.endian == Endian::Big && !target.program())
    tell("tracewell: a big-endian trace; without an executable GDB needs `set endian big`.");
  TW_ASSIGN_OR_RETURN(auto recorded, agent::RecordedTrace::create(*trace.source, target));
  recorded->on_frame = [&target](const Event& event) { target.show_thread(event.tid); };
  return serve(options, comm, target, recorded.get(), target.files());
}

/// A run that was recorded step by step: the debugger goes forwards and backwards in it.
Result<int> replay_steps(const ReplayOptions& options, const Comm& comm) {
  if (options.input.path == "-")
    return {Errc::InvalidArgument, "a trace of steps is read more than once; give a file"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input));
  StepHistory history(std::move(trace));
  const Catalog& catalog = history.catalog();
  if (history.count() == 0) return {Errc::NotFound, "the trace has no steps"};
  TW_RETURN_IF_ERROR(fits_a_packet(catalog));
  TW_ASSIGN_OR_RETURN(symbols::ImageMap images, place_images(catalog, options.images));
  target::HistoryTarget target(catalog, std::move(images), history);
  return serve(options, comm, target, nullptr, target.files());
}

Result<int> replay(const ReplayOptions& options) {
  TW_ASSIGN_OR_RETURN(const Comm comm, parse_comm(options.comm));
  if (comm.kind == Comm::Kind::Stdio && options.input.path == "-")
    return {Errc::InvalidArgument, "standard input cannot be both the trace and the connection"};
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(options.input));
  if (trace.source->frames() == nullptr) {
    trace = {};
    return replay_steps(options, comm);
  }
  tell_problems(trace, options.input.path);
  return replay_frames(options, comm, trace);
}

}  // namespace

Run replay_command(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  add_input_options(app, options->input);
  app.add_option("COMM", options->comm,
                 "where GDB connects to: HOST:PORT, [IPv6]:PORT, :PORT (loopback), unix:PATH, a "
                 "serial device, or - for standard input and output")
      ->required();
  add_image_options(app, options->images, "read-only memory and symbols");
  app.add_flag("--once", options->once, "end after the first connection");
  app.add_flag("--remote-debug", options->remote_debug, "show the packets");
  return [options](const Invocation&) {
    const auto status = replay(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
