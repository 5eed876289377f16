#include "target/linux/programs/terminal.h"

#include <csignal>

#include <unistd.h>

namespace tracewell::target::live {
namespace {

/// A background process that sets the foreground job is stopped by SIGTTOU, unless it is blocked.
void set_foreground(pid_t group) {
  sigset_t block, was;
  sigemptyset(&block);
  sigaddset(&block, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &block, &was);
  tcsetpgrp(STDIN_FILENO, group);
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
}

}  // namespace

void Terminal::lend(Pid child, bool wanted) {
  if (!wanted || isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
  setpgid(static_cast<pid_t>(child), static_cast<pid_t>(child));  // the child does it as well
  set_foreground(static_cast<pid_t>(child));
  lent_to_ = child;
}

void Terminal::take_back() {
  if (lent_to_ == 0) return;
  lent_to_ = 0;
  set_foreground(getpgrp());
}

}  // namespace tracewell::target::live
