// Calls work() on a stack the lower part of which a handler of SIGSEGV supplies, slowly, as
// runtimes of green threads do. Prints the addresses of
// work() and of the 64 KiB that the handler runs on; ends with status 7 after some rounds.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { kPages = 16, kPage = 4096, kRounds = 40 };

static char alternate[65536], *stack;
static ucontext_t main_context, context;
static volatile unsigned long count;

__attribute__((noinline)) void work(long number) {
  __asm__ volatile("nop;nop;nop;nop;nop;nop;nop;nop" : : "r"(number) : "memory");
  ++count;
}

static void supply(int number, siginfo_t *info, void *unused) {
  char *const at = info->si_addr;
  (void)number;
  (void)unused;
  if (at < stack || at >= stack + kPages * kPage) _exit(8);
  usleep(200000);
  mprotect(stack + (at - stack) / kPage * kPage, kPage, PROT_READ | PROT_WRITE);
}

static void runs(void) {
  work(1);
  work(2);
  swapcontext(&context, &main_context);
}

int main(void) {
  const stack_t its_own = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action = {.sa_sigaction = supply, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&its_own, 0);
  sigaction(SIGSEGV, &action, 0);
  stack = mmap(0, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return 2;
  printf("%lx %lx\n", (unsigned long)work, (unsigned long)alternate);
  fflush(stdout);
  alarm(60);
  for (int i = 0; i < kRounds; ++i) {
    mprotect(stack, (kPages - 1) * kPage, PROT_NONE);
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = (kPages - 1) * kPage + 512;
    context.uc_link = 0;
    makecontext(&context, runs, 0);
    swapcontext(&main_context, &context);
    usleep(50000);
  }
  return count == 2 * kRounds ? 7 : 9;
}
