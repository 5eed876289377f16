// families WHAT: children of every kind, all of which run marked code (marker).
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
volatile int counter;

__attribute__((noinline)) void marker(void) { ++counter; }

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int sharing_child(void* code) {
  for (int i = 0; i < 10; ++i) marker();
  return (int)(long)code;
}

/// For ever; the first has a second one.
static int sharing_for_ever(void* second_stack) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (second_stack != NULL) clone(sharing_for_ever, second_stack, CLONE_VM | SIGCHLD, NULL);
  for (;;) {
    marker();
    usleep(100);
  }
}

static char* self[] = {NULL, "leaf", NULL};

static void* exec_from_thread(void* unused) {
  (void)unused;
  usleep(10000);
  execv(self[0], self);
  return NULL;
}

static void* spin(void* unused) {
  for (;;) usleep(100);
  return unused;
}

static int spawn_and_wait(void) {
  pid_t child = 0;
  if (posix_spawn(&child, self[0], NULL, NULL, self, environ) != 0) return -1;
  return wait_for(child);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "leaf";
  self[0] = argv[0];
  for (int i = 0; i < 3; ++i) marker();
  if (strcmp(what, "leaf") == 0) return 17;
  int good = 0;
  if (strcmp(what, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 10; ++i) marker();
      _exit(counter);
    }
    good = wait_for(child) == 13;
  }
  if (strcmp(what, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      marker();
      _exit(5);
    }
    good = wait_for(child) == 5 && counter == 4;
  }
  if (strcmp(what, "spawn") == 0) good = spawn_and_wait() == 17;
  if (strcmp(what, "system") == 0) good = system("exit 3") == 3 << 8;
  if (strcmp(what, "share") == 0) {
    static char stack[65536];
    const pid_t child =
        clone(sharing_child, stack + sizeof stack, CLONE_VM | SIGCHLD, (void*)9L);
    good = wait_for(child) == 9 && counter == 13;
  }
  if (strcmp(what, "share-for-ever") == 0) {
    static char stacks[2][65536];
    clone(sharing_for_ever, stacks[0] + sizeof stacks[0], CLONE_VM | SIGCHLD, stacks + 2);
    for (;;) {
      marker();
      usleep(100);
    }
  }
  if (strcmp(what, "exec") == 0) execv(self[0], self);
  if (strcmp(what, "thread-exec") == 0) {
    pthread_t thread;
    for (int i = 0; i < 3; ++i) pthread_create(&thread, NULL, spin, NULL);
    pthread_create(&thread, NULL, exec_from_thread, NULL);
    for (;;) pause();
  }
  marker();
  return good ? 0 : 1;
}
