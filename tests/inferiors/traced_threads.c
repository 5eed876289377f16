// Threads with something in them to collect: arguments, locals, globals, arrays, strings.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct point {
  int x, y;
};

int total;
int table[4] = {10, 20, 30, 40};
char greeting[32] = "hello, tracepoints";
char *message = greeting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int work(int item, struct point *where, char *label) {
  int squares[3];
  char text[16];
  for (int i = 0; i < 3; ++i) squares[i] = item * i * i;
  snprintf(text, sizeof text, "item %d", item);
  int sum = squares[1] + squares[2] + where->x; /* collect */
  pthread_mutex_lock(&lock);
  total += sum; /* add */
  table[item % 4] = sum;
  pthread_mutex_unlock(&lock);
  return sum + (int)strlen(label); /* leave */
}

void *runner(void *argument) {
  struct point where = {*(int *)argument, 2};
  int result = 0;
  for (int item = 0; item < 10; ++item) result += work(item, &where, message);
  *(int *)argument = result;
  return argument;
}

void finished(void) {}

int main(void) {
  pthread_t threads[3];
  int arguments[3] = {100, 200, 300};
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, runner, &arguments[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  finished();
  printf("total %d\n", total);
  return total == 6675 ? 0 : 1;
}
