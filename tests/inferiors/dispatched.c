// Syscall User Dispatch, as Wine uses it: while the selector says so, system calls from outside of
// the C library are SIGSYS; with the word "inclusive", those of one function (Linux 6.17). Its own,
// of which it makes one in ten rounds, must all be told, and no other. Ends with status 0 when
// standard input does, if so; with 77 where the kernel cannot do it.
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum { kGuestCall = 500, kAnswer = 42 };
static volatile char selector;
static volatile long told, others, count;

static void on_call(int signal, siginfo_t *info, void *context) {
  (void)signal;
  if (info->si_syscall == kGuestCall) ++told;
  else ++others;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = kAnswer;
}

__attribute__((noinline)) void tick(void) {
  ++count;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

long guest_call(void);
extern const char guest_call_end[];
__asm__(
    ".text\n"
    "guest_call: mov $500, %eax\n"
    "syscall\n"
    "ret\n"
    "guest_call_end:\n");

static int dispatch(int inclusive, unsigned long low, unsigned long high) {
  const unsigned long begin = (unsigned long)guest_call, end = (unsigned long)guest_call_end;
  if (inclusive) return prctl(PR_SET_SYSCALL_USER_DISPATCH, 2, begin, end - begin, &selector);
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, low, high - low, &selector);
}

int main(int argc, char **argv) {
  unsigned long low = 0, high = 0;
  char line[512];
  struct sigaction action = {0};
  struct pollfd end = {0, POLLIN, 0};
  long made = 0;
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, 0);
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != 0 && fgets(line, sizeof line, maps))
    if (strstr(line, "libc.so") && strstr(line, "r-xp")) sscanf(line, "%lx-%lx", &low, &high);
  if (maps != 0) fclose(maps);
  if (dispatch(argc > 1 && strcmp(argv[1], "inclusive") == 0, low, high) != 0) return 77;
  printf("ready\n");
  fflush(stdout);
  for (int round = 0; poll(&end, 1, 0) == 0; ++round) {
    selector = 1;
    for (volatile int k = 0; k < 1000000; ++k) continue;
    tick();
    if (round % 10 == 0) {
      if (guest_call() != kAnswer) return 1;
      ++made;
    }
    selector = 0;
  }
  return told != made ? 2 : others != 0 ? 3 : 0;
}
