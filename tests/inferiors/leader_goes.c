// Its first thread ends at once; another one goes on.
#include <pthread.h>
#include <unistd.h>

volatile long ticks;
__attribute__((noinline)) void tick(void) { ++ticks; }

static void *works(void *unused) {
  for (;;) {
    tick();
    usleep(1000);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  alarm(100);
  pthread_create(&thread, 0, works, 0);
  pthread_exit(0);
}
