// Traced by the tests of `tracewell replay`. Deterministic: no addresses of libraries, no time.
#include <stdio.h>
#include <string.h>

struct item {
  int id;
  char name[16];
  struct item *next;
};

int counter;
int table[8];
static const char *const words[] = {"zero", "one", "two", "three"};
static struct item first = {1, "first", 0}, second = {2, "second", &first};

const char *word(int n) { return words[n & 3]; }

int leaf(int n, const char *text) {
  int local[3] = {n, n * 2, n * 3};
  counter += local[1]; /* in leaf */
  table[n & 7] = counter;
  return (int)strlen(text) + local[2];
}

int middle(int n) {
  struct item *where = n % 2 ? &first : &second;
  int sum = leaf(n, word(n)) + where->id; /* in middle */
  return sum;                             /* leaves middle */
}

int main(void) {
  int total = 0;
  for (int n = 0; n < 12; n++) total += middle(n);
  printf("%d\n", total); /* done */
  return 0;
}
