#include "base/process/held_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace tracewell {

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction action = {};
    // Held back, one that is ignored would come after all.
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&held, signal);
  }
  ::sigprocmask(SIG_BLOCK, &held, &before_);
  fd_ = UniqueFd(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int HeldSignals::wait_for(int fd) const {
  for (;;) {
    pollfd both[] = {{fd_.get(), POLLIN, 0}, {fd, POLLIN, 0}};
    if (::poll(both, 2, -1) <= 0) continue;
    if (const int signal = take(); signal != 0) return signal;
    if (both[1].revents != 0) return 0;
  }
}

int HeldSignals::take() const {
  signalfd_siginfo info{};
  const bool got = ::read(fd_.get(), &info, sizeof info) == ssize_t{sizeof info};
  return got ? static_cast<int>(info.ssi_signo) : 0;
}

void end_by(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace tracewell
