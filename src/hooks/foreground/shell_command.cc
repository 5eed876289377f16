#include "hooks/foreground/shell_command.h"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/unique_fd.h"

namespace tracewell::hooks {
namespace {

int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<pid_t> spawn_shell(const std::string& command, const sigset_t& mask) {
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&how, &mask);
  char shell[] = "sh", option[] = "-c";
  std::string text = command;
  char* const words[] = {shell, option, text.data(), nullptr};
  pid_t child = 0;
  const int wrong = ::posix_spawn(&child, "/bin/sh", nullptr, &how, words, environ);
  ::posix_spawnattr_destroy(&how);
  if (wrong != 0) return errno_error(wrong, "cannot run /bin/sh");
  return child;
}

}  // namespace

Result<Waited> run_shell(const std::string& command, const sigset_t& mask,
                         const HeldSignals& signals) {
  TW_ASSIGN_OR_RETURN(const pid_t child, spawn_shell(command, mask));
  const UniqueFd end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  Waited out;
  while (end.valid()) {
    out.signal = signals.wait_for(end.get());
    if (out.signal == 0) break;
    if (out.signal != SIGINT && out.signal != SIGQUIT) return out;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno_error("wait");
  out.status = exit_status_of(status);
  return out;
}

}  // namespace tracewell::hooks
