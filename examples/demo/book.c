#include "book.h"

#include <pthread.h>

#define LEVELS 4

long matched_total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int depth(int price, int level) { return 10 + (price / (level + 1)) % 17; }

int book_match(const struct order *order, const char *customer) {
  int levels[LEVELS];
  int matched = 0;
  for (int i = 0; i < LEVELS; ++i) levels[i] = depth(order->price, i);
  for (int i = 0; i < LEVELS && matched < order->quantity; ++i) matched += levels[i];
  if (matched > order->quantity) matched = order->quantity;
  if (*customer == '\0') matched = 0;
  pthread_mutex_lock(&lock); /* traced: levels and matched are known here */
  matched_total += matched;
  pthread_mutex_unlock(&lock);
  return matched;
}
