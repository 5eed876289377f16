// Counts for a while, and runs itself in its place then, with a handler for SIGSEGV: tracepoints
// would have to do without faults there. Ends with 0 if that second program kept its code.
// build: -no-pie
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 100, kSecondRounds = 200, kBytes = 8 };

volatile int counter;

__attribute__((noinline, noclone, aligned(64))) int count(int by) {
  counter += by;
  return counter;
}

static void ignore(int number) { (void)number; }

static unsigned long code(void) {
  unsigned long bytes = 0;
  memcpy(&bytes, (const char *)count, kBytes);
  return bytes;
}

int main(int argc, char **argv) {
  char text[32];
  if (argc == 1) {
    snprintf(text, sizeof text, "%lx", code());
    printf("%p\n", (void *)count);
    fflush(stdout);
    getchar();
    for (int i = 0; i < kRounds; ++i) {
      count(1);
      usleep(1000);
    }
    execl("/proc/self/exe", argv[0], text, (char *)NULL);
    return 2;
  }
  signal(SIGSEGV, ignore);
  const unsigned long was = strtoul(argv[1], NULL, 16);
  int other = 0;
  for (int i = 0; i < kSecondRounds; ++i) {
    other |= code() != was || count(2) != 2 * (i + 1);
    usleep(10000);
  }
  return other;
}
