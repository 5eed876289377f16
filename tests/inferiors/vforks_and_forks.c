// One thread is inside vfork(2), with a child that waits for a minute; others are inside fork most
// of the time, since there is much memory to be copied. Not often: the ids of processes are for
// others, too. Ends by itself.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kThreads = 4, kMegabytes = 256 };

static void *forks(void *unused) {
  int ends[2];
  char byte;
  (void)unused;
  if (pipe(ends) != 0) exit(2);
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(write(ends[1], "x", 1) != 1);
    if (child < 0 || read(ends[0], &byte, 1) != 1) exit(2);
    usleep(2000);
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  int i;
  char *const memory = malloc((size_t)kMegabytes << 20);
  if (memory == NULL) return 2;
  for (size_t at = 0; at < (size_t)kMegabytes << 20; at += 4096) memory[at] = 1;
  alarm(90);
  signal(SIGCHLD, SIG_IGN);
  for (i = 0; i < kThreads; ++i)
    if (pthread_create(&thread, 0, forks, 0) != 0) return 2;
  printf("ready\n");
  fflush(stdout);
  if (vfork() == 0) {
    sleep(60);
    _exit(0);
  }
  for (;;) pause();
}
