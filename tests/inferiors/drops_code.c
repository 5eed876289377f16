// Calls hit() until standard input ends. When a line comes, it gives the page of hit() back to the
// kernel, which reads it from the program's file anew (MADV_DONTNEED), and says "dropped". Says
// "ready" first. trap() has an int3 of its own, and is never called.
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096 };
volatile long hits;

__attribute__((noinline, aligned(kPage))) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

__asm__(".text\n.globl trap\n.balign 4096\ntrap: int3\nret\n.balign 4096\n");

int main(void) {
  struct pollfd end = {0, POLLIN, 0};
  char line[80];
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("ready\n");
  for (;;) {
    fflush(stdout);
    while (poll(&end, 1, 1) == 0) hit();
    if (fgets(line, sizeof line, stdin) == NULL) return 0;
    madvise((void *)((uintptr_t)hit / kPage * kPage), kPage, MADV_DONTNEED);
    printf("dropped\n");
  }
}
