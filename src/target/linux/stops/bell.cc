#include "target/linux/stops/bell.h"

#include <cerrno>
#include <csignal>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

/// Nothing of ours may live on in the child: descriptors above all, or a peer waits for ever for
/// their end. Nor may the child outlive who has started it, and may be killed before it traces it.
[[noreturn]] void sleep_for_ever(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  setsid();
  syscall(SYS_close_range, 0u, ~0u, 0u);
  for (;;) pause();
}

}  // namespace

Status Bell::hang_up() {
  if (pid_ != 0) return {};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return errno_error("cannot start a process", Errc::Target);
  if (child == 0) sleep_for_ever(parent);
  if (trace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL) != 0) {
    const int why = errno;
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, __WALL);
    return errno_error(why, "ptrace is not permitted here", Errc::Target);
  }
  pid_ = child;
  if (rung_) strike();
  return {};
}

Bell::~Bell() {
  const Pid pid = pid_;
  if (pid == 0) return;
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  while (waitpid(static_cast<pid_t>(pid), nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

void Bell::strike() {
  rung_ = true;
  nudge();
}

void Bell::nudge() {
  if (const Pid pid = pid_; pid != 0) ::kill(static_cast<pid_t>(pid), SIGURG);
}

void Bell::on_status(int status) {
  if (WIFSTOPPED(status)) {
    trace(PTRACE_CONT, pid_, 0, uint64_t{0});
  } else {
    pid_ = 0;  // somebody killed it; the next start makes another one
  }
}

}  // namespace tracewell::target::live
