// crowd THREADS: so many threads besides the leader, which calls all_there() when they are. Of two,
// one sleeps until a signal comes and one wakes up all the time. Exit status 77 where there may not
// be so many.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t there;

__attribute__((noinline)) void all_there(void) { __asm__ volatile("nop"); }

static void* stay(void* asleep) {
  pthread_barrier_wait(&there);
  for (;;) {
    if (asleep) pause();
    else usleep(20000);
  }
  return NULL;
}

int main(int count, char** words) {
  static char byte;
  const int threads = count > 1 ? atoi(words[1]) : 1;
  pthread_attr_t small;
  pthread_t one;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&there, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&one, &small, stay, i % 2 ? &byte : NULL) != 0) return 77;
  pthread_barrier_wait(&there);
  all_there();
  for (;;) pause();
}
