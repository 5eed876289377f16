// build: -no-pie
// A program with a stack of its own right below its code, which the kernel makes larger as it is
// needed (MAP_GROWSDOWN). For each line that it reads it calls hit(), and then itself on that stack
// as deep as the line says, in pages; it answers with the line. Says "ready" first.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kTop = 0x3fe000, kBytes = 0x8000 };  // the program begins at 0x400000

static ucontext_t caller, guest;
static int depth;
volatile long hits;

__attribute__((noinline)) void hit(void) {
  ++hits;
  __asm__ volatile("nop; nop; nop; nop; nop");
}

static void deeper(int pages) {
  volatile char page[4096];
  page[0] = (char)pages;
  if (pages > 0) deeper(pages - 1);
  page[1] = page[0];
}

static void on_stack(void) { deeper(depth); }

int main(void) {
  char line[80];
  void *const stack = mmap((void *)(kTop - kBytes), kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
  if (stack == MAP_FAILED) return 77;
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    hit();
    depth = atoi(line);
    getcontext(&guest);
    guest.uc_stack.ss_sp = stack;
    guest.uc_stack.ss_size = kBytes;
    guest.uc_link = &caller;
    makecontext(&guest, on_stack, 0);
    swapcontext(&caller, &guest);
    printf("%s", line);
    fflush(stdout);
  }
  return 0;
}
