// A thread passes here() with addresses of its own thread-local variables, of either kind.
#include <pthread.h>
#include <unistd.h>

static __thread int counted = 5;
static __thread struct {
  _Alignas(64) int number;
  char more[40];
} aligned;

__attribute__((noinline)) void here(int *counted_at, int *number_at) {
  *number_at += *counted_at;
  __asm__ volatile("" ::: "memory");
}

static void *work(void *from) {
  counted += *(int *)from;
  here(&counted, &aligned.number);
  return NULL;
}

int main(void) {
  pthread_t thread;
  int from = 10;
  here(&counted, &aligned.number);
  pthread_create(&thread, NULL, work, &from);
  pthread_join(thread, NULL);
  _exit(0);
}
