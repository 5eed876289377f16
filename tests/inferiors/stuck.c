// A thread that goes, once a byte comes to standard input, where it cannot be stopped: inside
// vfork(2), or ("untraced") inside a clone(2) that is like it and of which no tracer is told. It
// comes back when its child is killed, and the program ends with status 7. Another thread counts.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char stack[65536];
static volatile int back;
static volatile unsigned long count;
static int untraced;

static int waits(void *unused) {
  (void)unused;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
  return 0;
}

static void *goes_in(void *unused) {
  char byte;
  (void)unused;
  if (read(0, &byte, 1) != 1) _exit(3);
  if (untraced)
    clone(waits, stack + sizeof stack - 64, CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | SIGCHLD, 0);
  else if (vfork() == 0)
    waits(0);
  back = 1;
  return 0;
}

__attribute__((noinline)) void tick(void) { ++count; }

int main(int argc, char **argv) {
  pthread_t thread;
  untraced = argc > 1 && strcmp(argv[1], "untraced") == 0;
  if (pthread_create(&thread, 0, goes_in, 0) != 0) return 2;
  while (!back) {
    tick();
    usleep(1000);
  }
  pthread_join(thread, 0);
  return 7;
}
