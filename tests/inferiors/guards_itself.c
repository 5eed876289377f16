/* Lets nobody look into its memory, as programs do that keep secrets (ssh-agent), and forks. A word
 * says what more: filtered = all filters of system calls let through. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int points;
__attribute__((noinline)) void point(int i) {
  points += i;
  __asm__ volatile("nop; nop; nop; nop; nop; nop");
}
__attribute__((noinline)) void done(void) { __asm__ volatile("nop; nop; nop; nop; nop; nop"); }

static int work(void) {
  for (int i = 0; i < 20; ++i) point(1);
  return points == 30 && prctl(PR_GET_DUMPABLE) == 0 ? 9 : 10;
}

int main(int argc, char** argv) {
  for (int i = 0; i < 10; ++i) point(1);
  prctl(PR_SET_DUMPABLE, 0);
  if (argc > 1 && strcmp(argv[1], "filtered") == 0) {
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  }
  for (int k = 0; k < 3; ++k) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) _exit(work());
    waitpid(child, &status, 0);
    printf("child %s %d\n", WIFEXITED(status) ? "exits with" : "is killed by",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  }
  fflush(stdout);
  done();
  return 0;
}
