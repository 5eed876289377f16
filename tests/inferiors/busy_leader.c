// busy_leader THREADS: the first thread calls turn() for ever, the others sleep.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

volatile long turns;

__attribute__((noinline)) void turn(void) { turns = turns + 1; }

static void* sleeper(void* nothing) {
  for (;;) pause();
  return nothing;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 8;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 1;
  }
  for (;;) turn();
}
