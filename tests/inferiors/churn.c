// churn WAVES: waves of short threads, each of which calls work() ten times. Exits with 0 when the
// calls were all made.
#include <pthread.h>
#include <stdlib.h>

long counter;

__attribute__((noinline)) void work(long by) { __atomic_add_fetch(&counter, by, __ATOMIC_SEQ_CST); }

static void* run(void* unused) {
  for (int i = 0; i < 10; ++i) work(1);
  return unused;
}

int main(int argc, char** argv) {
  const int waves = argc > 1 ? atoi(argv[1]) : 10;
  for (int wave = 0; wave < waves; ++wave) {
    pthread_t ids[6];
    for (int i = 0; i < 6; ++i) pthread_create(&ids[i], NULL, run, NULL);
    for (int i = 0; i < 6; ++i) pthread_join(ids[i], NULL);
  }
  return counter == 60L * waves ? 0 : 1;
}
