// To a debugger, the work of OCaml's compiler: functions begin with its check of their stack. They
// run on one within other memory, of which nothing below what the check leaves may be written to.
// With an argument, a copy runs there that the program has made (as Erlang's are), at `made`.
// build: -O0 -no-pie
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

volatile long passed;

/* What the check compares with, where OCaml has the domain's state. */
static char *bounds[16];

enum { kLeft = 256, kBelow = 8192 };
static char memory[kBelow + kLeft + 4096] __attribute__((aligned(16)));

void pass(long n);
void on_fiber(char *top, char **state, long n, void *code);
extern const char pass_end[];
void *made;
__asm__(
    ".pushsection .text\n"
    ".globl pass, on_fiber\n"
    ".type pass, @function\n"
    "pass: mov $passed, %rax\n"
    "  lea -64(%rsp), %r10\n"
    "  cmp 40(%r14), %r10\n"
    "  jb 1f\n"
    "  mov %rdi, (%rax)\n"
    "1: ret\n"
    "pass_end:\n"
    ".size pass, . - pass\n"
    ".type on_fiber, @function\n"
    "on_fiber: push %rbp\n"
    "  push %r14\n"
    "  mov %rsp, %rbp\n"
    "  mov %rdi, %rsp\n"
    "  mov %rsi, %r14\n"
    "  mov %rdx, %rdi\n"
    "  call *%rcx\n"
    "  mov %rbp, %rsp\n"
    "  pop %r14\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size on_fiber, . - on_fiber\n"
    ".popsection\n");

__attribute__((noinline)) void started(void) { __asm__ volatile(""); }

static void *copy_of_pass(void) {
  const size_t bytes = (size_t)(pass_end - (const char *)pass);
  void *const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : memcpy(at, (const void *)pass, bytes);
}

int main(int argc, char **argv) {
  (void)argv;
  made = argc > 1 ? copy_of_pass() : (void *)pass;
  if (!made) _exit(77);
  started();
  memset(memory, 'x', sizeof memory);
  bounds[5] = memory + kBelow;
  for (long n = 0; n < 10; ++n) on_fiber(memory + kBelow + kLeft, bounds, n, made);
  for (long i = 0; i < kBelow; ++i)
    if (memory[i] != 'x') _exit(2);
  _exit(passed == 9 ? 0 : 1);
}
