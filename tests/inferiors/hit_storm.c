// Four threads that go through the same few places as fast as they can. argv[1]: rounds of each.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

volatile long shared;

__attribute__((noinline)) long inner(long n) { return n * 3 + 1; /* inner */ }

__attribute__((noinline)) long outer(long n) {
  long result = inner(n); /* outer */
  shared = n;
  return result - n; /* after */
}

static long rounds;

static void *run(void *argument) {
  long sum = 0;
  for (long n = 0; n < rounds; ++n) sum += outer(n);
  *(long *)argument = sum;
  return argument;
}

int main(int argc, char **argv) {
  rounds = argc > 1 ? atol(argv[1]) : 500;
  pthread_t threads[4];
  long sums[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, run, &sums[i]);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  // Each round adds 2n + 1.
  for (int i = 0; i < 4; ++i)
    if (sums[i] != rounds * rounds) return 1;
  return 0;
}
