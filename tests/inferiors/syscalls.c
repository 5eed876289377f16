// syscalls WHAT: system calls from a marked instruction (site_syscall) and what can become of them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

long marked_syscall(long number, long a, long b, long c, long d, long e, long f);
#ifdef __i386__
enum { kSaved = 4 };  // words that it pops before it returns
__asm__(
    ".text\n.globl marked_syscall, site_syscall, site_after\n"
    "marked_syscall: push %ebx\n"
    "  push %esi\n"
    "  push %edi\n"
    "  push %ebp\n"
    "  mov 20(%esp), %eax\n"
    "  mov 24(%esp), %ebx\n"
    "  mov 28(%esp), %ecx\n"
    "  mov 32(%esp), %edx\n"
    "  mov 36(%esp), %esi\n"
    "  mov 40(%esp), %edi\n"
    "  mov 44(%esp), %ebp\n"
    "site_syscall: int $0x80\n"
    "site_after: nop\n"
    "  pop %ebp\n"
    "  pop %edi\n"
    "  pop %esi\n"
    "  pop %ebx\n"
    "  ret\n");
#else
enum { kSaved = 0 };
__asm__(
    ".text\n.globl marked_syscall, site_syscall, site_after\n"
    "marked_syscall: mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  mov %rdx, %rsi\n"
    "  mov %rcx, %rdx\n"
    "  mov %r8, %r10\n"
    "  mov %r9, %r8\n"
    "  mov 8(%rsp), %r9\n"
    "site_syscall: syscall\n"
    "site_after: nop\n"
    "  ret\n");
#endif

static int ends[2];
volatile int handled;

static void on_alarm(int signal) {
  (void)signal;
  ++handled;
}

static void alarm_soon(int flags) {
  struct sigaction action = {0};
  action.sa_handler = on_alarm;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval once = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &once, NULL);
}

static void* write_later(void* unused) {
  (void)unused;
  usleep(60000);
  (void)!write(ends[1], "x", 1);
  return NULL;
}

static long read_one(void) {
  char byte = 0;
  return marked_syscall(SYS_read, ends[0], (long)&byte, 1, 0, 0, 0);
}

static int ignored_signal(void) {
  signal(SIGALRM, SIG_IGN);
  const struct itimerval often = {{0, 5000}, {0, 5000}};
  setitimer(ITIMER_REAL, &often, NULL);
  return read_one() == 1;
}

__attribute__((noreturn, force_align_arg_pointer)) static void leave(void) {
  _exit(21);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "getpid";
  pthread_t thread;
  if (pipe(ends) != 0) return 99;
  pthread_create(&thread, NULL, write_later, NULL);
  int good = 0;
  if (strcmp(what, "getpid") == 0)
    good = marked_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid();
  if (strcmp(what, "read") == 0) good = read_one() == 1;
  if (strcmp(what, "ignored") == 0) good = ignored_signal();
  if (strcmp(what, "eintr") == 0) {
    alarm_soon(0);
    good = read_one() == -EINTR && handled == 1;
  }
  if (strcmp(what, "restart") == 0) {
    alarm_soon(SA_RESTART);
    good = read_one() == 1 && handled == 1;
  }
  if (strcmp(what, "fork") == 0 || strcmp(what, "vfork") == 0) {
    // The vfork child runs on its own stack, and leaves from there.
    static char stack[65536] __attribute__((aligned(16)));
    long child = 0;
    if (what[0] == 'f') {
      child = marked_syscall(SYS_fork, 0, 0, 0, 0, 0, 0);
    } else {
      long* top = (long*)(stack + sizeof stack - 64);
      top[kSaved] = (long)leave;  // where the child returns to
      child = marked_syscall(SYS_clone, 0x4100 | SIGCHLD, (long)top, 0, 0, 0, 0);
    }
    if (child == 0) _exit(21);
    int status = 0;
    good = child > 0 && waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 21;
  }
  if (strcmp(what, "exit") == 0) marked_syscall(SYS_exit_group, 33, 0, 0, 0, 0, 0);
  pthread_join(thread, NULL);
  printf("%d\n", good);
  return good ? 0 : 1;
}
