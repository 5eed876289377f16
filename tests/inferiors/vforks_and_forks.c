// One thread is inside vfork(2), with a child that waits for a minute. Four fork now and then: each
// waits for a byte of its child before the next one. Behind them are so many others that whoever
// attaches, in their order, has those four long before the last one; they fork meanwhile. Few times
// a second: the ids of processes are for others, too. Ends by itself.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kForking = 4, kIdle = 2000 };

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

static void *idles(void *unused) {
  for (;;) pause();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t small;
  int i;
  alarm(90);
  signal(SIGCHLD, SIG_IGN);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (i = 0; i < kForking + kIdle; ++i)
    if (pthread_create(&thread, &small, i < kForking ? forks : idles, 0) != 0) return 2;
  printf("ready\n");
  fflush(stdout);
  if (vfork() == 0) {
    sleep(60);
    _exit(0);
  }
  for (;;) pause();
}
