/* Fires trace hooks, as long as it is told to: for static tracepoints at their sites. */
// libs: -lrts
#include <stdlib.h>
#include <sys/trchkid.h>

__attribute__((noinline)) static void fire(long a, int b) {
  TRCHKL2(HKWD_USER1 | 2, a, b);
  TRCHKL0(HKWD_USER4);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  for (int i = 0; i < rounds; ++i) fire(0x1000 + i, -i);
  return 0;
}
