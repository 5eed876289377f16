#include "cli/trace_collector.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/file.h"
#include "hooks/session.h"

namespace tracewell::cli {
namespace {

/// What was said on standard error so far is all that will be.
void let_go_of_everything() {
  ::setsid();
  static_cast<void>(::chdir("/"));
  ::prctl(PR_SET_NAME, "tw-hooks");
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), fd);
}

[[noreturn]] void be_collector(hooks::Control& control, unsigned channel, int started) {
  let_go_of_everything();
  const Status status = hooks::run_collector(control, channel, [&] {
    static_cast<void>(!::write(started, "", 1));
    ::close(started);
  });
  ::_exit(status.ok() ? 0 : 1);
}

}  // namespace

Status start_collector(hooks::Control& control, unsigned channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t middle = ::fork();
  if (middle < 0) return errno_error("cannot start a collector");
  if (middle == 0) {
    // Twice, so that it is nobody's child.
    const pid_t child = ::fork();
    if (child == 0) be_collector(control, channel, writing.get());
    ::_exit(child < 0 ? 1 : 0);
  }
  writing.reset();
  int status = 0;
  while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  char byte;
  ssize_t got;
  while ((got = ::read(reading.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) return {Errc::Io, "the collector of the trace could not start"};
  return {};
}

}  // namespace tracewell::cli
