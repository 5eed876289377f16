// hits_beside vfork|clone|fork: place() is called four times, each time by another process: a child
// of vfork(2), one that shares the memory (clone(2), CLONE_VM) or one that does not.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536];
static volatile long sum;

__attribute__((noinline)) void place(long turn) {
  sum += turn;
  __asm__ volatile("nop; nop; nop; nop; nop" ::"r"(turn) : "memory");
}

static int run(void* turn) {
  place((long)turn);
  return 0;
}

int main(int count, char** words) {
  const char* how = count > 1 ? words[1] : "";
  for (long turn = 0; turn < 4; ++turn) {
    pid_t child;
    if (strcmp(how, "clone") == 0) {
      child = clone(run, stack + sizeof stack, CLONE_VM | SIGCHLD, (void*)turn);
    } else {
      child = strcmp(how, "vfork") == 0 ? vfork() : fork();
      if (child == 0) {
        place(turn);
        _exit(0);
      }
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
  }
  place(4);
  return 0;
}
