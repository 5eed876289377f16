// Sends itself a signal, again and again. It ignores SIGSEGV, which changes how fast tracepoints
// read memory: the server stops it for that once, soon after the trace begins.
// build: -static -no-pie
#include <signal.h>

volatile int count;
void on_signal(int number);
__asm__(
    ".text\n.globl on_signal, site_first, site_second\n"
    "on_signal:\n"
    "  nop\n"
    "site_first: mov count(%rip), %eax\n"
    "  add $1, %eax\n"
    "site_second: mov %eax, count(%rip)\n"
    "  nop\n"
    "  ret\n");

int main(void) {
  signal(SIGSEGV, SIG_IGN);
  signal(SIGUSR1, on_signal);
  for (;;) raise(SIGUSR1);
}
