// syscalls WHAT: system calls from a marked instruction (site_syscall) and what can become of them.
// Where WHAT reads, another thread does what is to happen meanwhile, once the reader waits in the
// kernel. "asked": it writes when it is asked to (SIGUSR1), and not before.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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
static const char* what = "getpid";
static pthread_t reader;
static volatile int reading, over;
volatile int handled;

static void on_alarm(int signal) {
  (void)signal;
  ++handled;
}

static void handle_alarm(int flags) {
  struct sigaction action = {0};
  action.sa_handler = on_alarm;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, NULL);
}

/// Does the first thread wait in the kernel? The state stands behind its name, in brackets.
static int reader_waits(void) {
  char stat[256], path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, stat, sizeof stat - 1);
  close(file);
  stat[size > 0 ? size : 0] = '\0';
  const char* name_end = strrchr(stat, ')');
  return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'S';
}

static void await_reader(void) {
  while (!over && (!reading || !reader_waits())) usleep(1000);
}

static void* write_later(void* unused) {
  if (strcmp(what, "asked") == 0) {
    sigset_t ask;
    int asked = 0;
    sigemptyset(&ask);
    sigaddset(&ask, SIGUSR1);
    sigwait(&ask, &asked);
  }
  await_reader();
  if (strcmp(what, "ignored") == 0)
    for (int i = 0; i < 10; ++i, await_reader()) pthread_kill(reader, SIGALRM);
  if (strcmp(what, "eintr") == 0 || strcmp(what, "restart") == 0) {
    pthread_kill(reader, SIGALRM);
    while (!handled) usleep(1000);
  }
  (void)!write(ends[1], "x", 1);
  return unused;
}

static long read_one(void) {
  char byte = 0;
  reading = 1;
  return marked_syscall(SYS_read, ends[0], (long)&byte, 1, 0, 0, 0);
}

__attribute__((noreturn, force_align_arg_pointer)) static void leave(void) {
  _exit(21);
}

int main(int argc, char** argv) {
  pthread_t thread;
  sigset_t ask;
  if (argc > 1) what = argv[1];
  if (pipe(ends) != 0) return 99;
  reader = pthread_self();
  sigemptyset(&ask);
  sigaddset(&ask, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &ask, NULL);
  pthread_create(&thread, NULL, write_later, NULL);
  int good = 0;
  if (strcmp(what, "getpid") == 0)
    good = marked_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid();
  if (strcmp(what, "read") == 0 || strcmp(what, "asked") == 0) good = read_one() == 1;
  if (strcmp(what, "ignored") == 0) {
    signal(SIGALRM, SIG_IGN);
    good = read_one() == 1;
  }
  if (strcmp(what, "eintr") == 0) {
    handle_alarm(0);
    good = read_one() == -EINTR && handled == 1;
  }
  if (strcmp(what, "restart") == 0) {
    handle_alarm(SA_RESTART);
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
  over = 1;
  pthread_join(thread, NULL);
  printf("%d\n", good);
  return good ? 0 : 1;
}
