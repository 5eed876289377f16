#include "cli/guardian.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/check.h"

namespace tracewell::cli {
namespace {

pid_t face = 0;                       // in the child
volatile std::sig_atomic_t child = 0;  // in the face

void hand_on(int number) {
  if (child != 0) ::kill(child, number);
}

/// The connection may be standard input and output: its ends must close with the child's.
void let_go_of_standard_streams() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::close(nothing);
}

[[noreturn]] void be_the_face() {
  let_go_of_standard_streams();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) std::_Exit(EXIT_FAILURE);
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  fmt::print(stderr,
             "tracewell: the process that traces was killed by signal {}; programs that it was "
             "attached to may have breakpoints left in their code\n",
             WTERMSIG(status));
  std::fflush(stderr);
  std::_Exit(128 + WTERMSIG(status));
}

}  // namespace

void become_guarded() {
  // Signals that come before there is somebody to hand them to wait until there is.
  sigset_t handed_on, before;
  sigemptyset(&handed_on);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&handed_on, number);
  TW_CHECK(::sigprocmask(SIG_BLOCK, &handed_on, &before) == 0);
  face = ::getpid();
  const pid_t born = ::fork();
  if (born < 0) {  // unguarded, then
    face = 0;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  // Who kills by name (`killall -9 tracewell`) means the server, and is not to hit what keeps the
  // traced program whole.
  if (born == 0) ::prctl(PR_SET_NAME, "tw-tracer");
  if (born > 0) {
    child = born;
    struct sigaction action {};
    action.sa_handler = hand_on;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (born > 0) be_the_face();
}

void watch_face() {
  if (face == 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (face_is_gone()) ::raise(SIGTERM);
}

int server_pid() { return face != 0 ? face : ::getpid(); }

bool face_is_gone() { return face != 0 && ::getppid() != face; }

}  // namespace tracewell::cli
