// One thread is inside vfork(2) until its child is told to go on (SIGUSR1), which another one's
// count tells of. Ends with status 7 when the child has, and says how far the count was; with an
// argument it waits for another SIGUSR1 before that.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;  // by the child, too: they share it
static volatile unsigned long count;

static void go_on(int signal) {
  (void)signal;
  told = told + 1;
}

static void *counts(void *unused) {
  (void)unused;
  for (;;) {
    ++count;
    usleep(1000);
  }
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  signal(SIGUSR1, go_on);
  if (pthread_create(&thread, 0, counts, 0) != 0) return 2;
  printf("ready\n");
  fflush(stdout);
  const pid_t child = vfork();
  if (child == 0) {
    while (told < 1) pause();
    _exit(0);
  }
  waitpid(child, 0, 0);
  (void)argv;
  while (argc > 1 && told < 2) usleep(1000);
  printf("%lu\n", count);
  return 7;
}
