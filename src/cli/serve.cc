// serve: the live agent, with gdbserver's command line. tracewell-gdbserver is the same with
// gdbserver's exit status.
#include <unistd.h>

#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "base/thread.h"
#include "cli/command.h"
#include "cli/serve_options.h"
#include "server/buffers/buffer_files.h"
#include "server/connection/transport.h"
#include "server/live/live.h"
#include "server/live/settings.h"

namespace tracewell::cli {
namespace {

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

/// From the process that its user started, while the one that traces may not be able to.
void say(std::string_view text) {
  fmt::print(stderr, "tracewell: {}\n", text);
  std::fflush(stderr);
}

/// Those that serve_live() takes as they are.
server::LiveOptions live_options(const ServeOptions& options, const Conventions& conventions) {
  server::LiveOptions out;
  out.launch = options.launch;
  if (options.attach) out.attach = options.pid;
  out.attach_running = options.attach_running;
  out.multi = options.multi;
  out.once = options.once;
  out.disabled = options.disabled;
  out.buffer = options.buffer;
  out.fast = *agent::parse_fast_use(options.fast_tracepoints);
  out.tells_of_sysroot = !conventions.gdbserver();
  out.tell = say;
  return out;
}

int serve(const ServeOptions& options, const Conventions& conventions) {
  server::ServeSettings settings(STDERR_FILENO);
  server::ServeLog& log = settings.log;
  log.debug = !options.debug.empty();
  log.packets = options.remote_debug;
  if (auto status = log.set_file(options.debug_file); !status)
    return conventions.fail(std::move(status).error().within("--debug-file"));
  if (!log.set_format(options.debug_format))
    return conventions.fail({Errc::InvalidArgument, "--debug-format: none, timestamp or all", {}});
  settings.saves.set_overwrite(options.save_overwrite);
  if (auto status = settings.saves.set_folder(options.save_dir); !status)
    return conventions.fail(std::move(status).error().within("--save-dir"));
  if (auto status = server::check_buffer_file(options.buffer); !status)
    return conventions.fail(std::move(status).error().within("--buffer"));

  server::LiveOptions live = live_options(options, conventions);
  auto comm = server::parse_comm(options.comm);
  if (!comm) return conventions.fail(comm.error());
  live.comm = *std::move(comm);
  auto admission = server::Admission::parse(options.allow_users);
  if (!admission) return conventions.fail(admission.error());
  live.admission = *std::move(admission);
  const auto served = server::serve_live(std::move(live), settings);
  if (!served) return conventions.fail(served.error());
  switch (served->end) {
    case server::ServerEnd::Done: return kOk;
    case server::ServerEnd::Interrupted: return 128 + served->signal;
    case server::ServerEnd::Failed: break;
  }
  return kSystem;
}

}  // namespace

Run serve_command(OptionTable& table) {
  auto options = std::make_shared<ServeOptions>();
  add_serve_options(table, *options);
  return [options](const Invocation& invocation) {
    const Conventions conventions(invocation);
    if (auto status = finish_serve_options(*options); !status) {
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
