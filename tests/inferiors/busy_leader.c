// busy_leader THREADS [BUSY [EACH_US]]: the first thread calls turn() for ever, and so do BUSY
// others; THREADS more sleep, or call it once in each EACH_US microseconds.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

volatile long turns;

__attribute__((noinline)) void turn(void) { turns = turns + 1; }

static useconds_t each_us;

static void* sleeper(void* nothing) {
  while (each_us == 0) pause();
  for (;;) {
    usleep(each_us);
    turn();
  }
  return nothing;
}

static void* worker(void* nothing) {
  for (;;) turn();
  return nothing;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 8;
  const int busy = count > 2 ? atoi(words[2]) : 0;
  each_us = count > 3 ? (useconds_t)atoi(words[3]) : 0;
  for (int i = 0; i < threads + busy; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, i < threads ? sleeper : worker, NULL) != 0) return 1;
  }
  for (;;) turn();
}
