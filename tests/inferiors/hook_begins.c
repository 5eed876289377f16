// A process that is killed while its first hook makes a ring: when the kernel has just written the
// program's name into it.
// libs: -lrts
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  struct user_regs_struct regs;
  int status;
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    TRCHKL1(HKWD_USER1, 7);
    _exit(0);
  }
  waitpid(child, &status, 0);
  for (int stops = 0; WIFSTOPPED(status); ++stops) {
    if (ptrace(PTRACE_GETREGS, child, 0, &regs) != 0) return 3;
    // It is stopped before the call, when rax is -ENOSYS, and behind it.
    if (stops > 0 && regs.orig_rax == SYS_readlinkat && (long)regs.rax > 0) break;
    if (ptrace(PTRACE_SYSCALL, child, 0, 0) != 0) return 3;
    waitpid(child, &status, 0);
  }
  if (!WIFSTOPPED(status)) return 4;  // it asked for no name
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 0 : 5;
}
