// Calls hit() 200 000 times, while a timer's signal, which it ignores, comes each
// millisecond. A debugger is told of such signals.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

volatile long hits;
__attribute__((noinline)) void hit(long n) { hits += n; }

int main(void) {
  const long calls = 200000;
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  signal(SIGALRM, SIG_IGN);
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; i < calls; ++i) hit(1);
  _exit(hits == calls ? 33 : 1);
}
