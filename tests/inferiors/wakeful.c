// wakeful THREADS: so many threads, the first one among them. Half of them sleep for ever; each of
// the others wakes once a second and computes for some 10 microseconds, at a time of its own.
// build: -O2
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kPeriodUs = 1000000, kTurns = 5000, kStackBytes = 64 << 10 };

static void* sleeper(void* nothing) {
  for (;;) pause();
  return nothing;
}

static void* worker(void* number) {
  usleep((unsigned)((unsigned long)number * 7919 % 1000 * 1000));
  for (;;) {
    for (volatile int i = 0; i < kTurns; ++i) continue;
    usleep(kPeriodUs);
  }
  return number;
}

int main(int count, char** words) {
  const long threads = count > 1 ? atol(words[1]) : 8;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (long i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, i % 2 ? worker : sleeper, (void*)i) != 0) return 1;
  }
  for (;;) pause();
}
