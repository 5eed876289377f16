// A program that handles SIGSEGV, and passes pages to hit() that are new: what is collected of them
// can be read by a system call alone. It makes calls itself: mmap and munmap between the hits.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kPage = 4096, kPages = 50 };

volatile long sum;

__attribute__((noinline)) void hit(const long *page) { sum += *page; }
__attribute__((noinline)) void begin(void) { __asm__ volatile("nop; nop; nop; nop; nop"); }

static void ends(int signal) { _Exit(signal); }

int main(void) {
  signal(SIGSEGV, ends);
  begin();
  for (long i = 1; i <= kPages; ++i) {
    long *page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 2;
    *page = i;
    hit(page);
    if (munmap(page, kPage) != 0) return 3;
  }
  return sum == kPages * (kPages + 1) / 2 ? 0 : 1;
}
