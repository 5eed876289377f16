#include "hooks/session/detached.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/named.h"
#include "base/text/text.h"

namespace tracewell::hooks {
namespace {

/// What whoever called the command had open for what it starts: the end of a pipe that somebody
/// reads to its end, say. What the command opened itself is not for others, and marked so.
void close_what_was_inherited() {
  const auto folder = Folder::named("/proc/self/fd");
  if (!folder) return;
  const auto names = folder->names();
  if (!names) return;
  std::vector<int> inherited;
  for (const std::string& name : *names) {
    const auto number = parse_number(name);
    const int fd = number && *number <= INT_MAX ? static_cast<int>(*number) : -1;
    const int flags = fd > STDERR_FILENO ? ::fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(fd);
  }
  for (const int fd : inherited) ::close(fd);
}

/// What was said on standard error so far is all that will be.
void let_go_of_everything(const char* name) {
  ::setsid();
  [[maybe_unused]] const int moved = ::chdir("/");
  ::prctl(PR_SET_NAME, name);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const auto null = open_named_for("/dev/null", {.write = true}); null)
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null->get(), fd);
  close_what_was_inherited();
}

}  // namespace

Status start_detached(const char* name, const std::function<int()>& work) {
  const pid_t middle = ::fork();
  if (middle < 0) return errno_error("cannot start a process");
  if (middle == 0) {
    // Twice, so that it is nobody's child.
    const pid_t child = ::fork();
    if (child == 0) {
      let_go_of_everything(name);
      ::_exit(work());
    }
    ::_exit(child < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return {Errc::Io, "cannot start a process (too many?)"};
  return {};
}

}  // namespace tracewell::hooks
