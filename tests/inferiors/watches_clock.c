/* Threads that look at the clock all the time: the longest that none of them ran is how long the
   program as a whole stood still. Ten places to trace.

   watches_clock THREADS [IDLE] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

uint64_t last_ns, longest_ns, turns; /* a tester looks at them, and sets the second to 0 */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define PLACE(n)                                  \
  __attribute__((noinline)) void place_##n(void) { \
    __asm__ volatile("nop; nop; nop; nop; nop");  \
  }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
PLACE(4)
PLACE(5)
PLACE(6)
PLACE(7)
PLACE(8)
PLACE(9)

static void look(void) {
  const uint64_t now = now_ns();
  uint64_t last = __atomic_load_n(&last_ns, __ATOMIC_RELAXED);
  while (now > last &&
         !__atomic_compare_exchange_n(&last_ns, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  if (now <= last || last == 0) return;
  uint64_t longest = __atomic_load_n(&longest_ns, __ATOMIC_RELAXED);
  while (now - last > longest &&
         !__atomic_compare_exchange_n(&longest_ns, &longest, now - last, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
}

static void *watch(void *unused) {
  (void)unused;
  void (*const places[])(void) = {place_0, place_1, place_2, place_3, place_4,
                                  place_5, place_6, place_7, place_8, place_9};
  for (unsigned i = 0;; ++i) {
    look();
    if (i % 64 == 0) places[i / 64 % 10]();
    __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void *sleep_long(void *unused) {
  (void)unused;
  for (;;) pause();
  return NULL;
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1, idle = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t one;
  for (int i = 0; i < idle; ++i) pthread_create(&one, NULL, sleep_long, NULL);
  for (int i = 1; i < threads; ++i) pthread_create(&one, NULL, watch, NULL);
  puts("watching");
  fflush(stdout);
  watch(NULL);
}
