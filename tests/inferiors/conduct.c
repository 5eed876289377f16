// What a program may come to do after a trace run has begun. argv[1]:
//   confine  allows itself write, exit and the return from signal handlers alone
//   clock    may not read the time stamp counter any more after a while, or, with a second
//            argument, from the beginning
//   files    shares its descriptors with a process that has memory of its own
//   handle   has a handler for SIGSEGV, and then blocks that signal while memory ends
// build: -D_GNU_SOURCE
// Exits with 0 when all was computed right, and the handler is still its own.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Far from each other: a breakpoint is in the way of what is near. */
#define KEEP __attribute__((noinline, noclone, aligned(512)))

volatile long passed, passes;

KEEP void started(void) { __asm__ volatile(""); }
KEEP void finished(int code) { _exit(code); }

KEEP long pass(long n, const char *text) {
  passed = n;
  ++passes;
  return n * 2 + (text ? text[0] : 0);
}

/* Passes so many times, once in a millisecond at most, without a system call (but the vDSO's). */
static long go_on(long times, long n) {
  static const char text[64];
  struct timespec now;
  long wrong = 0, at = 0;
  while (times > 0) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long then = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (then == at) continue;
    wrong += pass(n, text) != 2 * n;
    at = then;
    --times;
  }
  return wrong;
}

#define ALLOW(number)                                \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int confine(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_rt_sigreturn),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  long wrong = go_on(50, 1);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 9;
  wrong += go_on(300, 2);
  for (long i = 0; i < 2000; ++i) wrong += pass(3, NULL) != 6;
  return wrong != 0;
}

static int clock_goes(const char *soon) {
  long wrong = soon ? 0 : go_on(50, 1);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  started();
  for (long i = 0; i < 400; ++i) {
    wrong += pass(2, NULL) != 4;
    const struct timespec little = {0, 1000000};
    syscall(SYS_nanosleep, &little, NULL);
  }
  int may = 0;
  prctl(PR_GET_TSC, &may, 0, 0, 0);
  return wrong != 0 || may != PR_TSC_SIGSEGV;
}

static void on_fault(int number) { _exit(number); }

static int handle(void) {
  char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(two, 'x', 4096);
  mprotect(two + 4096, 4096, PROT_NONE);
  struct sigaction action = {.sa_handler = on_fault}, old;
  sigaction(SIGSEGV, &action, NULL);
  long wrong = go_on(300, 2);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 5; ++i) wrong += pass(1, two + 4096 - 24) != 2 + 'x';
  sigaction(SIGSEGV, NULL, &old);
  return wrong != 0 ? 1 : old.sa_handler == on_fault ? 0 : 2;
}

static int share_descriptors(void) {
  const pid_t other = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
  if (other == 0)
    for (;;) pause();
  started();
  const long wrong = go_on(50, 2);
  kill(other, SIGKILL);
  return waitpid(other, NULL, 0) == other ? wrong != 0 : 3;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "clock") == 0) finished(clock_goes(argv[2]));
  if (strcmp(argv[1], "files") == 0) finished(share_descriptors());
  finished(strcmp(argv[1], "confine") ? handle() : confine());
}
