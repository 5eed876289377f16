// Two processes with one memory (CLONE_VM) that run at the same time, and pass the same place.
// build: -D_GNU_SOURCE
// Exits with 0 when both have done all of their work.
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPasses = 5000, kStackBytes = 1 << 20 };
static volatile long sums[2];
static volatile int begun;

__attribute__((noinline, noclone)) void pass(long who, long n) { sums[who] += n; }
__attribute__((noinline)) void finished(int code) { _exit(code); }

static void work(long who) {
  for (long n = 0; n < kPasses; ++n) pass(who, n);
}

/* No function of the C library that uses its thread's memory: that is the parent's. */
static int child(void *unused) {
  begun = 1;
  work(1);
  syscall(SYS_exit, 0);
  return 0;
}

int main(void) {
  char *const stack = malloc(kStackBytes);
  const int pid = clone(child, stack + kStackBytes, CLONE_VM | SIGCHLD, NULL);
  while (!begun) {
  }
  work(0);
  int status = 1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) status = 1;
  const long all = (long)kPasses * (kPasses - 1) / 2;
  finished(status != 0 || sums[0] != all || sums[1] != all);
}
