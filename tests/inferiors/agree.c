// The program of live/agrees_with_gdbserver: everything that a tracepoint can collect, the same in
// every run but for what the kernel and the process id decide.
// build: -fstack-protector-all
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct point {
  int x, y;
  double weight;
};

int process_id;
int counter;
static const char *names[] = {"zero", "one", "two", "three"};
char text[64];
double ratio = 0.5;
struct point points[3] = {{1, 2, 0.25}, {3, 4, 0.5}, {-5, 6, 0.75}};

static int inner(int a, long b, const char *name, double factor) {
  int array[6];
  char buffer[32];
  for (int i = 0; i < 6; ++i) array[i] = a * i + (int)b;
  snprintf(buffer, sizeof buffer, "%s:%d", name, a);
  counter += array[a % 6]; /* place: inner */
  ratio = ratio * factor + 0.125;
  return (int)strlen(buffer) + array[5];
}

static int leaf(int n) { return n * 7 + 1; /* place: leaf */ }

int main(void) {
  process_id = (int)getpid();
  int sum = 0;
  for (int i = 0; i < 12; ++i) {
    sum += inner(i, 100L - i, names[i % 4], 1.5);
    sum = leaf(sum) % 10007;
    points[i % 3].x += sum;
    strcpy(text, names[(i + 1) % 4]); /* place: loop */
  }
  printf("%d %d\n", sum, counter); /* place: end */
  return 0;
}
