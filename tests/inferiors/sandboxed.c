// Allows itself write, exit and the return from signal handlers alone, then calls work().
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile unsigned long value = 1;

__attribute__((noinline)) void work(void) { value = value * 3 + 1; }

#define ALLOW(number)                                  \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),   \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

__attribute__((noinline)) void sandboxed(void) {}

int main(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_rt_sigreturn),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 9;
  sandboxed();
  for (int i = 0; i < 10; ++i) work();
  _exit(value == 88573 ? 0 : 1);
}
