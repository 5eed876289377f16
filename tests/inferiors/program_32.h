// The 32-bit program of live/serve_i386: what a debugger looks at, and what tracepoints collect.
// The same in every run, but for what the kernel decides.
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct point {
  short x;
  int y;
  double weight;
  const char* name;
};

volatile int watched;
int counter;
long long wide = 0x1122334455667788;
struct point points[3] = {{1, 2, 0.25, "one"}, {3, 4, 0.5, "two"}, {-5, 6, 0.75, "three"}};
char text[64] = "a string to look at";
float floats[4] __attribute__((aligned(16))) = {1.5f, 2.5f, 3.5f, 4.5f};
__thread int of_thread = 7;
int handled;

/// The compiler does not use them.
static void load_vectors(void) {
  __asm__ volatile("movups (%0), %%xmm5\n vbroadcastf128 (%0), %%ymm6" : : "r"(floats));
}

__attribute__((noinline)) int inner(int a, long long b, const char* name, double factor) {
  int array[6];
  char buffer[32];
  for (int i = 0; i < 6; ++i) array[i] = a * i + (int)b;
  snprintf(buffer, sizeof buffer, "%s:%d", name, a);
  counter += array[(unsigned)a % 6]; /* inner */
  points[0].weight = points[0].weight * factor + 0.125;
  watched += a;
  return (int)strlen(buffer) + array[5];
}

__attribute__((noinline)) struct point made(int n) {
  struct point result = {(short)n, n * 7, n * 0.5, "made"};
  return result; /* made */
}

__attribute__((noinline)) double root(double of) { return sqrt(of); /* root */ }

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)context;
  handled += number + (info->si_code == SI_QUEUE ? info->si_value.sival_int : 0); /* handler */
}

static void* thread_main(void* argument) {
  of_thread = (int)(intptr_t)argument;
  counter += inner(of_thread, -1, "thread", 2); /* thread */
  return NULL;
}

int main(void) {
  load_vectors();
  int sum = 0; /* start */
  for (int i = 0; i < 12; ++i) {
    sum += inner(i, 100 - i, points[i % 3].name, 1.5);
    sum += made(sum).y % 10007;
    points[i % 3].x += (short)sum; /* loop */
  }
  sum += (int)root(sum & 0xffff);
  pthread_t thread;
  pthread_create(&thread, NULL, thread_main, (void*)3);
  pthread_join(thread, NULL);
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, NULL); /* signals */
  sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1000});
  if (handled == SIGUSR1 + 1000) *(volatile int*)0x10 = sum; /* crash */
  printf("%d %d\n", sum, counter);
  return 0;
}
