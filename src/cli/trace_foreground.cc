#include "cli/trace_foreground.h"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/unique_fd.h"
#include "cli/hook_session.h"
#include "cli/interrupt.h"
#include "hooks/session/session.h"

namespace tracewell::cli {
namespace {

/// Lines of standard input. A command that is run in between reads on behind what is here.
class InputLines {
 public:
  /// nullopt: there are no more, or a signal came.
  std::optional<std::string> next(const HeldSignals& signals, int& signal) {
    for (size_t seen = 0;;) {
      const size_t end = text_.find('\n', seen);
      if (end != std::string::npos) return take(end, end + 1);
      seen = text_.size();
      signal = signals.wait_for(STDIN_FILENO);
      if (signal != 0) return std::nullopt;
      char piece[4096];
      const ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0 && text_.empty()) return std::nullopt;
      if (got <= 0) return take(text_.size(), text_.size());
      text_.append(piece, static_cast<size_t>(got));
    }
  }

 private:
  std::string take(size_t end, size_t rest) {
    std::string line = text_.substr(0, end);
    text_.erase(0, rest);
    return line;
  }
  std::string text_;
};

/// false: the line ends the trace.
bool obey(hooks::Control& control, unsigned channel, const std::string& line,
          const HeldSignals& signals, int& signal) {
  if (line == "q" || line == "quit" || line == "trcstop") return false;
  Status status;
  if (line == "trcon" || line == "trcoff") {
    status = hooks::switch_tracing(control, channel, line == "trcon");
  } else if (line.starts_with('!')) {
    const auto done = run_shell(line.substr(1), signals);
    if (done.ok())
      signal = done->signal;
    else
      status = done.error();
  } else if (!line.empty()) {
    fmt::print("trcon     go on with tracing\ntrcoff    interrupt it\n!COMMAND  run a command\n"
               "q, quit   end the trace\n");
  }
  if (!status.ok()) fmt::print(stderr, "trace: {}\n", status.error().text());
  return true;
}

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
  std::fflush(stdout);
  const int wrong = ::posix_spawn(&child, "/bin/sh", nullptr, &how, words, environ);
  ::posix_spawnattr_destroy(&how);
  if (wrong != 0) return errno_error(wrong, "cannot run /bin/sh");
  return child;
}

}  // namespace

Result<Waited> run_shell(const std::string& command, const HeldSignals& signals) {
  TW_ASSIGN_OR_RETURN(const pid_t child, spawn_shell(command, blocked_before()));
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

Waited ask(hooks::Control& control, unsigned channel, const HeldSignals& signals) {
  InputLines lines;
  Waited out;
  for (;;) {
    fmt::print("-> ");
    std::fflush(stdout);
    const auto line = lines.next(signals, out.signal);
    if (!line || !obey(control, channel, *line, signals, out.signal)) break;
    if (out.signal != 0) break;
    tell_collectors(control);
  }
  if (out.signal == SIGINT) {  // the usual way to end what one looks at
    out.signal = 0;
    fmt::print("\n");
  }
  return out;
}

}  // namespace tracewell::cli
