// Two programs for one server. argv[1]:
//   beside  prints, about each second, the milliseconds of it in which it did not run
//   stalls  writes over its tracepoint whenever there is one, and has threads that wait in the
//           kernel where no tracer stops them (vfork), each for a second
// build: -D_GNU_SOURCE
// Both print the address of `pass` first, and go on until they are killed.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 8, kStack = 65536 };

__attribute__((noinline, noclone)) long pass(long n) { return n * 3 + 1; }

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void beside(void) {
  double told = now_ms(), before = told, missed = 0;
  for (;;) {
    const double now = now_ms();
    if (now - before > 50) missed += now - before;
    before = now;
    if (now - told < 1000) continue;
    printf("%.0f %.0f\n", missed, now - told);
    fflush(stdout);
    told = now;
    missed = 0;
  }
}

static int sleep_a_second(void *unused) {
  (void)unused;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  usleep(1000000);
  _exit(0);
}

static void *wait_for_children(void *unused) {
  char *const stack = malloc(kStack);
  (void)unused;
  for (;;)
    clone(sleep_a_second, stack + kStack - 64, CLONE_VM | CLONE_VFORK | CLONE_UNTRACED, NULL);
  return NULL;
}

static void stall(void) {
  uint8_t bytes[32];
  uint8_t *const code = (uint8_t *)(uintptr_t)pass;
  pthread_t thread;
  memcpy(bytes, code, sizeof bytes);
  mprotect((void *)((uintptr_t)code & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&thread, NULL, wait_for_children, NULL);
    usleep(1000000 / kThreads);
  }
  for (long n = 0;; ++n) {
    if (memcmp(code, bytes, sizeof bytes) != 0) memcpy(code, bytes, sizeof bytes);
    pass(n);
    if (n % 1000 == 0) usleep(1000);
  }
}

int main(int argc, char **argv) {
  printf("%lx\n", (unsigned long)(uintptr_t)pass);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "beside") == 0) beside();
  stall();
}
