// Fires hooks with five words at a rate: prints how many it fired, and how many seconds that took.
// Built twice, as hook_costs.c is.
//   hook_rate EVENTS_A_SECOND SECONDS
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PEER
#define TRACEPOINT_DEFINE
#include "hook_peer.h"
#define FIRE(a, b, c, d, e) tracepoint(tracewell_bench, five, a, b, c, d, e)
#else
#include <sys/trchkid.h>
#define FIRE(a, b, c, d, e) TRCHKL5(HKWD_USER1, a, b, c, d, e)
#endif

// Between two looks at the clock.
#define BATCH 200
// A longer batch was off the processor; that time is not counted, nor made up for in a burst, which
// would be another rate than the one asked for.
#define AWAY 0.001

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const double rate = atof(argv[1]);
  const uint64_t all = (uint64_t)(rate * atof(argv[2]));
  uint64_t fired = 1;
  // The first hook makes the thread's ring; LTTng has its own before main.
  FIRE(0, 1, 2, 3, 4);
  double start = seconds();
  double now = start;
  while (fired < all) {
    const double due = start + (double)fired / rate;
    double before;
    do {
      before = now;
      now = seconds();
      if (now - before > AWAY) start += now - before;
    } while (now < due);
    for (int i = 0; i < BATCH; ++i, ++fired)
      FIRE(fired, fired + 1, fired + 2, fired + 3, fired + 4);
  }
  printf("%llu %.6f\n", (unsigned long long)fired, seconds() - start);
  return 0;
}
