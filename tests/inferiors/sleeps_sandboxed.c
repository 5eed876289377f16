// Sleeps two seconds behind a filter that ends whoever calls restart_syscall(2), which the kernel
// does for a program that was stopped meanwhile. Ends with status 7 when it has slept so long.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  struct timespec now, end, time = {2, 0};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 9;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("ready\n");
  fflush(stdout);
  if (nanosleep(&time, 0) != 0) return 8;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return end.tv_sec - now.tv_sec >= 2 ? 7 : 6;
}
