// Prints a line when it is ready. Calls hit() with the number that a thread knows itself by: from
// its first thread, and from others that come and go; with an argument, also from some that have
// no thread-local memory of their own. Until SIGUSR1 comes: status 7.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t ends;
static volatile unsigned long count;

static void on_signal(int number) {
  (void)number;
  ends = 1;
}

__attribute__((noinline)) void hit(long own) {
  __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop" : : "r"(own) : "memory");
  ++count;
}

static void* thread(void* unused) {
  for (int i = 0; i < 3; ++i) hit(syscall(SYS_gettid));
  return unused;
}

static int bare(void* done) {
  for (int i = 0; i < 3; ++i) hit(syscall(SYS_gettid));
  __atomic_store_n((int*)done, 1, __ATOMIC_RELEASE);
  syscall(SYS_exit, 0);
  return 0;
}

static void run_bare(void) {
  static char stack[1 << 16] __attribute__((aligned(16)));
  static int done;
  __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                    CLONE_SYSVSEM;
  if (clone(bare, stack + sizeof stack, flags, &done) < 0) return;
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) usleep(100);
  usleep(1000); /* its stack is used to its end */
}

int main(int argc, char** argv) {
  signal(SIGUSR1, on_signal);
  puts("ready");
  fflush(stdout);
  alarm(90);
  while (!ends) {
    hit(syscall(SYS_gettid));
    pthread_t id;
    if (pthread_create(&id, NULL, thread, NULL) != 0) return 1;
    if (argc > 1 && argv[1][0] == 'b') run_bare();
    pthread_join(id, NULL);
  }
  return count > 0 ? 7 : 8;
}
