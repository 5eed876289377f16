// gaps THREADS: that many threads call turn() for ever and tell each other what time it is: the
// longest time during which none of them ran is how long the program stood still. Prints where
// `gap_times` is: nanoseconds of the last turn, and of the longest gap since 0 was written there.
// build: -O2
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

_Atomic long gap_times[2];
volatile long turns;

__attribute__((noinline)) void turn(void) { turns = turns + 1; }

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void* work(void* nothing) {
  for (;;) {
    turn();
    /* One that waits for a processor here has an old time in hand, and others have run since: then
       the time of the last turn is another one, and it says nothing. */
    long last = gap_times[0];
    const long time = now();
    if (time <= last || !atomic_compare_exchange_strong(&gap_times[0], &last, time)) continue;
    long longest = gap_times[1];
    while (time - last > longest &&
           !atomic_compare_exchange_weak(&gap_times[1], &longest, time - last))
      continue;
  }
  return nothing;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 2;
  gap_times[0] = now();
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  }
  printf("%p\n", (void*)gap_times);
  fflush(stdout);
  for (;;) pause();
}
