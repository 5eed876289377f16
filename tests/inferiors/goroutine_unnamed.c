// As goroutine.c; made with -ldflags=-buildid=, it has no note, but it cannot hide its version.
// build: -O0
#include <unistd.h>

__attribute__((aligned(16))) char version[32] = "\xff Go buildinf:";
volatile long passed;

__attribute__((noinline)) void pass(long n) { passed = n; }

int main(void) {
  for (long n = 0; n < 10; ++n) pass(n);
  _exit(passed == 9 ? 0 : 1);
}
