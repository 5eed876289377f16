// Prints the address of work(), which it calls in a loop. For each line on standard input it forks
// a worker, as programs do that leave what is dangerous to one with fewer rights:
//   "fork", "clone3"  the worker tells whether memory is mapped there that a tracer shares
//   "inside"          the same, forked by a handler of SIGSEGV that a hit in work() needs
//   "many N"          N forks; tells how many microseconds each has taken
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { kPage = 4096, kPages = 16 };

static ucontext_t main_context, low_context;
static char alternate[1 << 16], *stack;
static volatile uint64_t count;
static volatile int low_faults, is_worker;

__attribute__((noinline, aligned(64))) void work(uint64_t by) {
  __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop" : : "r"(by) : "memory");
  count += by;
}

static const char *shared_with_tracer(void) {
  static char line[512];
  FILE *const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "memfd:tracewell") != NULL) return line;
  if (maps != NULL) fclose(maps);
  return NULL;
}

static void tell(const char *what) {
  if (write(1, what, strlen(what)) < 0) _exit(9);
}

static void tell_end(pid_t worker) {
  char text[64];
  int status = 0;
  if (worker < 0 || waitpid(worker, &status, 0) != worker) {
    tell("no worker\n");
    return;
  }
  snprintf(text, sizeof text, "worker ended with %d\n", status);
  tell(text);
}

static void worker(void) {
  is_worker = 1;
  const char *const found = shared_with_tracer();
  if (found != NULL) tell("shared: ");
  tell(found != NULL ? found : "nothing is shared\n");
  for (int i = 0; i < 1000; ++i) work(1);  // as in the parent, where pads may be
}

static pid_t fork_by_clone3(void) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } how = {.exit_signal = SIGCHLD};
  return (pid_t)syscall(SYS_clone3, &how, sizeof how);
}

/// Supplies the lower part of the stack, and forks meanwhile: both return to what has failed.
static void supply(int number, siginfo_t *info, void *context) {
  char *const at = info->si_addr;
  (void)number, (void)context;
  if (at < stack || at >= stack + kPages * kPage) _exit(8);
  ++low_faults;
  const pid_t pid = fork();
  if (pid == 0) worker();
  else tell_end(pid);
  mprotect(stack, kPages * kPage, PROT_READ | PROT_WRITE);
}

static void runs_low(void) {
  work(1);
  if (is_worker) _exit(0);
  swapcontext(&low_context, &main_context);
}

static void fork_inside(void) {
  low_faults = 0;
  mprotect(stack, (kPages - 1) * kPage, PROT_NONE);
  getcontext(&low_context);
  low_context.uc_stack.ss_sp = stack;
  low_context.uc_stack.ss_size = (kPages - 1) * kPage + 512;
  low_context.uc_link = 0;
  makecontext(&low_context, runs_low, 0);
  swapcontext(&main_context, &low_context);
  tell(low_faults != 0 ? "faults\n" : "no faults\n");
}

static void fork_many(int many) {
  struct timespec begin, end;
  char text[64];
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < many; ++i) {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid) _exit(7);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double all = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
                     (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
  snprintf(text, sizeof text, "%.1f\n", all / many);
  tell(text);
}

static void obey(const char *line) {
  if (strncmp(line, "inside", 6) == 0) {
    fork_inside();
    return;
  }
  if (strncmp(line, "many", 4) == 0) {
    fork_many(atoi(line + 4));
    return;
  }
  const pid_t pid = strncmp(line, "clone3", 6) == 0 ? fork_by_clone3() : fork();
  if (pid == 0) {
    worker();
    _exit(0);
  }
  tell_end(pid);
}

int main(void) {
  const stack_t its_own = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_sigaction = supply, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  struct pollfd input = {.fd = 0, .events = POLLIN};
  char line[64];
  sigaltstack(&its_own, 0);
  sigaction(SIGSEGV, &action, 0);
  stack = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return 2;
  snprintf(line, sizeof line, "%lx\n", (unsigned long)work);
  tell(line);
  for (;;) {
    work(1);
    if (poll(&input, 1, 1) != 1) continue;
    const ssize_t got = read(0, line, sizeof line - 1);
    if (got <= 0) return 0;
    line[got] = 0;
    obey(line);
  }
}
