// Three threads, each of which does work of its own over and over, until `quit` is set by a
// debugger. Exits with 3.
#include <pthread.h>
#include <unistd.h>

volatile int quit;
volatile long turns[3];

__attribute__((noinline)) void turn(int who) { ++turns[who]; /* turn */ }
__attribute__((noinline)) void first_work(void) { turn(1); /* first */ }
__attribute__((noinline)) void second_work(void) { turn(2); /* second */ }
__attribute__((noinline)) void main_work(void) { turn(0); /* main */ }

static void* first(void* unused) {
  while (!quit) {
    first_work();
    usleep(500);
  }
  return unused;
}

static void* second(void* unused) {
  while (!quit) {
    second_work();
    usleep(500);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  while (!quit) {
    main_work();
    usleep(500);
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 3;
}
