// serve: the live agent, with gdbserver's command line. tracewell-gdbserver is the same with
// gdbserver's exit status.
#include <unistd.h>

#include <cstdio>
#include <new>

#include <fmt/format.h>

#include "base/process/thread.h"
#include "cli/command.h"
#include "cli/serve_options.h"
#include "server/live/request.h"

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

int serve(ServeOptions& options, const Conventions& conventions) {
  options.tells_of_sysroot = !conventions.gdbserver();
  options.tell = say;
  const auto served = server::serve_request(options, STDERR_FILENO);
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
