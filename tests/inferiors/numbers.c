// Children that a tracer is told of late, or never. argv[1]:
//   untold   makes a child for each line that it reads, beside itself (CLONE_PARENT): one that is
//            traced from its beginning, and whose birth no event tells of; says its number
//   shares   like it; the child has the same memory
//   killed   its child makes children beside itself from many threads, until it is killed; then it
//            says how many there were, and how many of them a signal ended
//   execs    a second thread runs the program argv[2] when it has read a line
//   threads  makes a thread for each line that it reads, which says its number, and waits for it
// All children call hit(). Says its number, or its child's, first, and ends with what it reads.
// build: -D_GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 8, kStack = 1 << 16 };

volatile long hits;
__attribute__((noinline)) void hit(void) { ++hits; }

static void say(long number) {
  printf("%ld\n", number);
  fflush(stdout);
}

static int hits_once(void *unused) {
  (void)unused;
  hit();
  syscall(SYS_exit_group, 0);
  return 0;
}

static int untold(int flags) {
  static char stack[kStack] __attribute__((aligned(16)));
  char line[80];
  say(getpid());
  while (fgets(line, sizeof line, stdin) != NULL)
    say(clone(hits_once, stack + kStack,
              CLONE_PTRACE | CLONE_UNTRACED | CLONE_PARENT | SIGCHLD | flags, NULL));
  return 0;
}

static void *makes_children(void *unused) {
  for (;;)
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) hits_once(unused);
}

/* Begins when it is told to (SIGUSR1). */
static void make_children(void) {
  sigset_t begin;
  pthread_t thread;
  int told = 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigemptyset(&begin);
  sigaddset(&begin, SIGUSR1);
  sigwait(&begin, &told);
  for (int i = 0; i < kThreads; ++i) pthread_create(&thread, NULL, makes_children, NULL);
  for (;;) pause();
}

static int killed(void) {
  sigset_t begin;
  long ended = 0, by_signal = 0;
  int status = 0;
  sigemptyset(&begin);
  sigaddset(&begin, SIGUSR1);
  sigprocmask(SIG_BLOCK, &begin, NULL);
  const pid_t child = fork();
  if (child == 0) make_children();
  say(child);
  for (pid_t one = 0; (one = wait(&status)) > 0;) {
    if (one == child) continue;
    ++ended;
    if (WIFSIGNALED(status)) ++by_signal;
  }
  printf("%ld %ld\n", ended, by_signal);
  return 0;
}

static void *runs(void *path) {
  char *const words[] = {path, NULL};
  execv(path, words);
  return NULL;
}

static int execs(char *path) {
  char line[80];
  pthread_t thread;
  say(getpid());
  if (fgets(line, sizeof line, stdin) == NULL) return 0;
  if (pthread_create(&thread, NULL, runs, path) != 0) return 3;
  pthread_join(thread, NULL);
  return 4;
}

static void *says_number(void *unused) {
  hit();
  say(syscall(SYS_gettid));
  return unused;
}

static int threads(void) {
  char line[80];
  pthread_t thread;
  say(getpid());
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (pthread_create(&thread, NULL, says_number, NULL) != 0) return 3;
    pthread_join(thread, NULL);
  }
  return 0;
}

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "untold") == 0) return untold(0);
  if (strcmp(what, "shares") == 0) return untold(CLONE_VM);
  if (strcmp(what, "killed") == 0) return killed();
  if (strcmp(what, "execs") == 0 && argc > 2) return execs(argv[2]);
  if (strcmp(what, "threads") == 0) return threads();
  return 2;
}
