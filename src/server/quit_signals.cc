#include "server/quit_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace tracewell::server {
namespace {

constexpr int kQuitSignals[] = {SIGINT, SIGTERM, SIGHUP};

// What a signal handler can reach.
int quit_pipe[2] = {-1, -1};
volatile std::sig_atomic_t noted = 0;

void on_quit_signal(int number) {
  if (noted != 0) return;
  noted = number;
  (void)!::write(quit_pipe[1], "q", 1);
}

void on_pipe_signal(int) {}

}  // namespace

Status note_quit_signals() {
  if (::pipe2(quit_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return errno_error("cannot wait for signals");
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_quit_signal;
  for (const int number : kQuitSignals) ::sigaction(number, &action, nullptr);
  action.sa_handler = on_pipe_signal;
  ::sigaction(SIGPIPE, &action, nullptr);
  return {};
}

int quit_signal() { return noted; }

int quit_signal_fd() { return quit_pipe[0]; }

Result<UniqueFd> hold_quit_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kQuitSignals) sigaddset(&signals, number);
  ::signal(SIGPIPE, SIG_IGN);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return errno_error("signals");
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return errno_error("signals");
  return fd;
}

int take_quit_signal(const UniqueFd& held) {
  signalfd_siginfo signal{};
  const bool came = ::read(held.get(), &signal, sizeof signal) == sizeof signal;
  return came ? static_cast<int>(signal.ssi_signo) : 0;
}

}  // namespace tracewell::server
