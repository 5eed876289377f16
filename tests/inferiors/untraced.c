// What a tracer is not told of. argv[1]:
//   execs   a thread that nobody traces (CLONE_UNTRACED) runs another program, which ends
//   lives   the first thread ends, and one that nobody traces lives on
//   shares  a process beside it has the same memory, and runs another program at SIGUSR1
//   lends   its child, which is not traced, runs the same code in shared memory
//   takes   nothing: a process with the id argv[2] begins, whose own program this is
// build: -D_GNU_SOURCE
// Says "ready"; the first two go on when they read something.
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kStack = 1 << 16 };

static char stack[kStack] __attribute__((aligned(16)));
static char *nothing[] = {NULL};

volatile long hits;
__attribute__((noinline)) void hit(void) { ++hits; }

static void ready(long number) {
  printf("ready %ld\n", number);
  fflush(stdout);
}

static int runs_true(void *unused) {
  char *arguments[] = {"true", NULL};
  (void)unused;
  execve("/bin/true", arguments, nothing);
  _exit(1);
}

static int lives_on(void *unused) {
  (void)unused;
  sleep(60);
  syscall(SYS_exit_group, 0);
  return 0;
}

static void begin_untraced(int (*work)(void *)) {
  char byte;
  ready(getpid());
  if (read(0, &byte, 1) != 1) _exit(2);
  if (clone(work, stack + kStack, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_UNTRACED, NULL) <
      0)
    _exit(3);
}

static int execs(char **words) {
  (void)words;
  begin_untraced(runs_true);
  for (;;) pause();
}

static int lives(char **words) {
  (void)words;
  begin_untraced(lives_on);
  syscall(SYS_exit, 0);
  return 0;
}

static void run_sleep(int unused) {
  char *arguments[] = {"sleep", "60", NULL};
  (void)unused;
  execve("/bin/sleep", arguments, nothing);
  _exit(1);
}

static int sleeps(void *unused) {
  (void)unused;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

static int shares(char **words) {
  (void)words;
  signal(SIGUSR1, run_sleep);
  const int beside = clone(sleeps, stack + kStack, CLONE_VM | SIGCHLD, NULL);
  if (beside < 0) return 3;
  ready(beside);
  for (;; usleep(1000)) hit();
}

/* Ends with what ended its child. */
static int lends(char **words) {
  static const unsigned char code[] = {0x48, 0x8d, 0x87, 0x34, 0x12, 0, 0,  /* lea 0x1234(%rdi) */
                                       0x48, 0x8d, 0x87, 0x34, 0x12, 0, 0, 0xc3};
  void *const place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  (void)words;
  if (place == MAP_FAILED) return 3;
  memcpy(place, code, sizeof code);
  const pid_t child = fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  else ready((long)place);
  for (int status = 0;; usleep(1000)) {
    ((long (*)(long))place)(1);
    if (child != 0 && waitpid(child, &status, WNOHANG) == child)
      return WIFSIGNALED(status) ? WTERMSIG(status) : 1;
  }
}

/* 77: only root may choose. */
static int takes(char **words) {
  const pid_t wanted = (pid_t)atoi(words[2]);
  struct clone_args how = {0};
  how.exit_signal = SIGCHLD;
  how.set_tid = (uintptr_t)&wanted;
  how.set_tid_size = 1;
  const long child = syscall(SYS_clone3, &how, sizeof how);
  if (child < 0) return 77;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  ready(child);
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    int (*run)(char **);
  } ways[] = {{"execs", execs},
              {"lives", lives},
              {"shares", shares},
              {"lends", lends},
              {"takes", takes}};
  for (size_t i = 0; count > 1 && i < sizeof ways / sizeof ways[0]; ++i)
    if (!strcmp(words[1], ways[i].name)) return ways[i].run(words);
  return 9;
}
