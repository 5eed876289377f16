// For fast tracepoints. argv[1]: what to do; argv[2]: how often.
//   edge     memory that ends
//   signals  a handler that passes the same places as what it interrupts
//   churn    threads that come and go, a few at a time
//   work     until SIGTERM; then whether anything of the code has changed since the beginning
// build: -D_GNU_SOURCE -fcf-protection
// Exits with 0 when all was computed right.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

volatile long passed;

KEEP long pass(long n, const char *text) {
  passed = n; /* pass */
  return n * 2 + (text ? text[0] : 0);
}

KEEP double compute(double x, long n) {
  double sum = 0;
  for (long i = 1; i <= n; ++i) sum += x / i - sum * 0.25; /* compute */
  return sum;
}

static int edge(long often) {
  char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(two, 'x', 4096);
  mprotect(two + 4096, 4096, PROT_NONE);
  long wrong = 0;
  for (long i = 0; i < often; ++i) wrong += pass(1, two + 4096 - 24) != 2 + 'x';
  return wrong != 0;
}

static atomic_long handled;
static const struct itimerval soon = {{0, 0}, {0, 500}};
/* The next one comes behind this: what it interrupts gets its turn, however slow handlers are. */
static void on_alarm(int number) {
  (void)number;
  if (pass(1000000 + handled, NULL) == 2 * (1000000 + handled)) ++handled;
  setitimer(ITIMER_REAL, &soon, NULL);
}

static int signals(long often) {
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &soon, NULL);
  long n = 0, wrong = 0;
  while (handled < often) {
    wrong += pass(n, NULL) != 2 * n;
    ++n;
    for (volatile int pause = 0; pause < 20000; ++pause) {
    }
  }
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
  printf("main %ld handler %ld\n", n, (long)handled);
  return wrong != 0;
}

static void *passer(void *argument) {
  long sum = 0;
  for (long i = 0; i < 10; ++i) sum += pass((long)gettid(), NULL);
  return (void *)(sum == 20 * (long)gettid() ? argument : NULL);
}

static int churn(long often) {
  for (long i = 0; i < often; ++i) {
    pthread_t threads[4];
    for (int k = 0; k < 4; ++k) pthread_create(&threads[k], NULL, passer, &threads);
    for (int k = 0; k < 4; ++k) {
      void *result = NULL;
      pthread_join(threads[k], &result);
      if (!result) return 1;
    }
    if (i + 1 != often / 2) continue;
    passed = 0; /* joined */
  }
  return 0;
}

static atomic_int ended;
static void on_term(int number) {
  (void)number;
  ended = 1;
}

static unsigned long digest_of_code(void) {
  extern const char __executable_start, etext;
  unsigned long digest = 5381;
  for (const char *at = (const char *)pass; at < &etext; ++at) digest = digest * 33 + *at;
  (void)&__executable_start;
  return digest;
}

static void *worker(void *argument) {
  long n = (long)argument, wrong = 0;
  const double right = compute(n, 100);
  while (!ended) {
    wrong += pass(n, NULL) != 2 * n;
    wrong += compute(n, 100) != right;
  }
  return (void *)wrong;
}

static int work(void) {
  const unsigned long before = digest_of_code();
  signal(SIGTERM, on_term);
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, worker, (void *)(i + 2));
  puts("at work");
  fflush(stdout);
  long wrong = (long)worker((void *)7);
  for (int i = 0; i < 3; ++i) {
    void *one = NULL;
    pthread_join(threads[i], &one);
    wrong += (long)one;
  }
  if (wrong) return 1;
  return digest_of_code() == before ? 0 : 3;
}

void finished(int code) { _exit(code); }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "edge";
  const long often = argc > 2 ? atol(argv[2]) : 100;
  int code = 2;
  if (!strcmp(what, "edge")) code = edge(often);
  if (!strcmp(what, "signals")) code = signals(often);
  if (!strcmp(what, "churn")) code = churn(often);
  if (!strcmp(what, "work")) code = work();
  fflush(stdout);
  finished(code);
}
