// sustains THREADS SECONDS: threads that call hit() as fast as they can, each with a structure of
// its own, of which it counts up the three numbers. Prints the structures' address when they are
// about to begin; a byte from standard input starts them, and another one, or the end of the time,
// ends them. Then it prints each thread's calls and nanoseconds of processor time, and waits for a
// third byte.
// build: -O2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kThreadsMax = 64 };

struct Own {
  volatile long a, b, c;
  long nanoseconds;
  char rest[96];
};
static struct Own owns[kThreadsMax];
static volatile int begun, ended;

__attribute__((noinline)) void hit(struct Own* own) {
  own->a = own->a + 1;
  own->b = own->b + 2;
  own->c = own->c + 3;
}

static void* work(void* own) {
  struct timespec spent;
  while (!begun) usleep(100);
  while (!ended) hit(own);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  ((struct Own*)own)->nanoseconds = spent.tv_sec * 1000000000L + spent.tv_nsec;
  return NULL;
}

static void* time_limit(void* seconds) {
  sleep((unsigned)(long)seconds);
  ended = 1;
  return NULL;
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 2;
  const long seconds = count > 2 ? atol(words[2]) : 60;
  pthread_t thread[kThreadsMax], limit;
  char byte;
  for (int i = 0; i < threads && i < kThreadsMax; ++i)
    if (pthread_create(&thread[i], NULL, work, &owns[i]) != 0) return 1;
  printf("%p\n", (void*)owns);
  fflush(stdout);
  if (read(0, &byte, 1) != 1) return 2;
  if (pthread_create(&limit, NULL, time_limit, (void*)seconds) != 0) return 1;
  begun = 1;
  if (read(0, &byte, 1) != 1) return 2;
  ended = 1;
  for (int i = 0; i < threads && i < kThreadsMax; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < threads && i < kThreadsMax; ++i)
    printf("%ld %ld\n", owns[i].a, owns[i].nanoseconds);
  fflush(stdout);
  return read(0, &byte, 1) == 1 ? 0 : 2;
}
