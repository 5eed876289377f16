// A program with a trace hook that takes something away from itself first: "filter" adds a filter
// of system calls, which lets all of them pass; "guarded" does the same, and lets nobody look into
// its memory; "ticks" gives up the time stamp counter. Says "ready", and has its hook when a line
// comes.
// libs: -lrts
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/trchkid.h>

static int filter(void) {
  struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, all};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "guarded") == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return 77;
  if (strcmp(argv[1], "ticks") != 0 && !filter()) return 77;
  if (strcmp(argv[1], "ticks") == 0 && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return 77;
  puts("ready");
  fflush(stdout);
  if (getchar() != '\n') return 2;
  TRCHKL1(HKWD_USER1, 7);
  return 0;
}
