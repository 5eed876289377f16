// A program that allows itself 64 MB of stack (RLIMIT_STACK), and uses 60, once a line of standard
// input has come. Says "ready" before. Code of tracepoints in hit() wants to be 80 to 96 MB above
// it, since a jump there has its last byte in common with an instruction.
// Exits with 0 when it got all; with 77 where it may not.
#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kPiece = 1 << 20, kPieces = 60 };

/* 100 times, from hit to hit_end: 4 bytes, and 5 that begin with 05. */
long hit(long n);
__asm__(
    ".globl hit, hit_end\n"
    ".type hit, @function\n"
    "hit: mov %rdi, %rax\n"
    "  .rept 100; add $1, %rcx; .byte 0x05; .long 0; .endr\n"
    "hit_end: ret\n"
    ".size hit, . - hit\n");

static __attribute__((noinline)) long deep(int more) {
  volatile char piece[kPiece];
  memset((void *)piece, more, sizeof piece);
  if (hit(more) != more) _exit(4);
  return more == 0 ? piece[5] : deep(more - 1) + piece[more];
}

int main(void) {
  char line[1];
  struct rlimit most;
  getrlimit(RLIMIT_STACK, &most);
  most.rlim_cur = (rlim_t)64 << 20;
  if (setrlimit(RLIMIT_STACK, &most) != 0) return 77;
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 2;
  if (read(STDIN_FILENO, line, 1) != 1) return 3;
  return deep(kPieces - 1) == 0;
}
