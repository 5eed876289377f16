// Has a thread that is the kernel's alone, for io_uring(7): it has this memory and never comes out
// of the kernel. Another one counts in turn(). Ends with status 0
// when it has read something, and with 77 where the kernel has no such threads for it.
// build: -D_GNU_SOURCE
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile long turns;
__attribute__((noinline)) void turn(void) { ++turns; }

static void *counts(void *unused) {
  for (;; usleep(1000)) turn();
  return unused;
}

int main(void) {
  struct io_uring_params how;
  pthread_t thread;
  char byte;
  memset(&how, 0, sizeof how);
  how.flags = IORING_SETUP_SQPOLL;
  how.sq_thread_idle = 1;
  prctl(PR_SET_PDEATHSIG, 9);
  if (pthread_create(&thread, NULL, counts, NULL) != 0) return 2;
  if (syscall(SYS_io_uring_setup, 4, &how) < 0) return 77;
  printf("ready\n");
  fflush(stdout);
  return read(0, &byte, 1) < 0;
}
