// To a debugger, the work of OCaml's compiler: functions begin with its check of their stack. They
// run on one within other memory, of which nothing below what the check leaves may be written to.
// build: -O0
#include <string.h>
#include <unistd.h>

volatile long passed;

/* What the check compares with, where OCaml has the domain's state. */
static char *bounds[16];

enum { kLeft = 256, kBelow = 8192 };
static char memory[kBelow + kLeft + 4096] __attribute__((aligned(16)));

void pass(long n);
void on_fiber(char *top, char **state, long n);
__asm__(
    ".pushsection .text\n"
    ".globl pass, on_fiber\n"
    ".type pass, @function\n"
    "pass: lea -64(%rsp), %r10\n"
    "  cmp 40(%r14), %r10\n"
    "  jb 1f\n"
    "  mov %rdi, passed(%rip)\n"
    "1: ret\n"
    ".size pass, . - pass\n"
    ".type on_fiber, @function\n"
    "on_fiber: push %rbp\n"
    "  push %r14\n"
    "  mov %rsp, %rbp\n"
    "  mov %rdi, %rsp\n"
    "  mov %rsi, %r14\n"
    "  mov %rdx, %rdi\n"
    "  call pass\n"
    "  mov %rbp, %rsp\n"
    "  pop %r14\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size on_fiber, . - on_fiber\n"
    ".popsection\n");

int main(void) {
  memset(memory, 'x', sizeof memory);
  bounds[5] = memory + kBelow;
  for (long n = 0; n < 10; ++n) on_fiber(memory + kBelow + kLeft, bounds, n);
  for (long i = 0; i < kBelow; ++i)
    if (memory[i] != 'x') _exit(2);
  _exit(passed == 9 ? 0 : 1);
}
