// A program that takes 200 MB by sbrk() alone, once a line of standard input has come. Says "ready"
// before, with nothing on its heap. Code of tracepoints in hit() wants to be there: what a jump of
// five bytes has in common with the instructions behind a short one is part of where it goes.
// build: -no-pie
// Exits with 0 when it got all.
#define _GNU_SOURCE
#include <unistd.h>

enum { kPiece = 1 << 20, kPieces = 200 };

/* 100 times, from hit to hit_end: 3 bytes, and 3 that begin with 48 01. */
long hit(long n);
__asm__(
    ".globl hit, hit_end\n"
    ".type hit, @function\n"
    "hit: .rept 100; mov %rdi, %rax; add %rax, %rcx; .endr\n"
    "hit_end: ret\n"
    ".size hit, . - hit\n");

int main(void) {
  char line[1];
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 2;
  if (read(STDIN_FILENO, line, 1) != 1) return 3;
  for (int i = 0; i < kPieces; ++i) {
    if (sbrk(kPiece) == (void *)-1) return 1;
    if (hit(i) != i) return 4;
  }
  return 0;
}
