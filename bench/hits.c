/* What bench_trap_hit traces: threads that call one function over and over. The program times its
 * own loop and prints the wall time of all calls, in nanoseconds, and a checksum. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long calls;
static pthread_barrier_t barrier;

__attribute__((noinline)) long work(long x) {
  __asm__ volatile("" ::: "memory");
  return 3 * x + 1;
}

static void *loop(void *argument) {
  long sum = (long)argument;
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < calls; ++i) sum = work(sum) % 1000003;
  return (void *)sum;
}

__attribute__((noinline)) void finished(void) { __asm__ volatile(""); }

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  calls = argc > 2 ? atol(argv[2]) : 1000;
  pthread_t ids[16];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, loop, (void *)(i + 1));
  pthread_barrier_wait(&barrier);
  const long long start = now_ns();
  long sum = 0;
  for (int i = 0; i < threads; ++i) {
    void *part;
    pthread_join(ids[i], &part);
    sum += (long)part;
  }
  printf("%lld ns, checksum %ld\n", now_ns() - start, sum);
  fflush(stdout);
  finished();
  return 0;
}
