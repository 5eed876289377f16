// debug_registers: exit status 0 when the processor's debug registers stop a traced program, 1 when
// they can be set and stop nothing, as under some hypervisors, 2 when they cannot be set.
#include <errno.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint32_t watched;

static int be_watched(void) {
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  raise(SIGSTOP);
  watched = 1;
  return 0;
}

int main(void) {
  enum { kWrites4InRegister0 = 0xd0001 };
  const pid_t child = fork();
  if (child == 0) _exit(be_watched());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 2;
  const size_t first = offsetof(struct user, u_debugreg);
  const size_t control = first + 7 * sizeof(long);
  const int set = ptrace(PTRACE_POKEUSER, child, first, &watched) == 0 &&
                  ptrace(PTRACE_POKEUSER, child, control, (long)kWrites4InRegister0) == 0;
  ptrace(PTRACE_CONT, child, NULL, NULL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int stopped = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
  if (!WIFEXITED(status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  return set ? !stopped : 2;
}
