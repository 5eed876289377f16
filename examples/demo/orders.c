/* The demo's program: threads that send orders to a book in a shared library. It prints a checksum,
 * the same one whether it is traced or not. */
#include <pthread.h>
#include <stdio.h>

#include "book.h"

#define THREADS 4
#define ORDERS_PER_THREAD 50

static const char *const customers[] = {"Ada", "Grace", "Edsger", "Barbara", "Niklaus"};

static void *trade(void *argument) {
  const long thread = (long)argument;
  long sum = 0;
  for (int i = 0; i < ORDERS_PER_THREAD; ++i) {
    const int id = (int)thread * ORDERS_PER_THREAD + i;
    const struct order order = {id, 1000 + id * 37 % 400, 5 + id * 13 % 60};
    sum += (long)(id + 1) * book_match(&order, customers[id % 5]);
  }
  return (void *)sum;
}

static void report(long checksum) {
  printf("orders: %d, shares matched: %ld, checksum: %ld\n", THREADS * ORDERS_PER_THREAD,
         matched_total, checksum);
  fflush(stdout);
}

int main(void) {
  pthread_t threads[THREADS];
  long checksum = 0;
  for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, trade, (void *)i);
  for (int i = 0; i < THREADS; ++i) {
    void *sum;
    pthread_join(threads[i], &sum);
    checksum += (long)sum;
  }
  report(checksum);
  return 0;
}
