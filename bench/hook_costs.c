// What one hook with five words costs its thread: prints nanoseconds, the median over rounds of
// 10000 hooks. Built twice: with trace hooks, and with -DPEER with LTTng's tracepoints.
//   hook_costs THREADS ROUNDS loop|hooks
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PEER
#define TRACEPOINT_DEFINE
#include "hook_peer.h"
#define FIRE(a, b, c, d, e) tracepoint(tracewell_bench, five, a, b, c, d, e)
#else
#include <sys/trchkid.h>
#define FIRE(a, b, c, d, e) TRCHKL5(HKWD_USER1, a, b, c, d, e)
#endif

#define HOOKS_A_ROUND 10000

static int g_rounds, g_hooks;
static double g_medians[64];
static pthread_barrier_t g_start;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void* run(void* argument) {
  const long self = (long)argument;
  double* costs = calloc((size_t)g_rounds, sizeof *costs);
  cpu_set_t one, all;
  int cpu = 0, wanted = (int)self;
  sched_getaffinity(0, sizeof all, &all);
  while (!CPU_ISSET(cpu, &all) || wanted-- > 0) cpu = (cpu + 1) % CPU_SETSIZE;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  pthread_barrier_wait(&g_start);
  for (int round = -1; round < g_rounds; ++round) {
    const double start = seconds();
    for (uint64_t i = 0; i < HOOKS_A_ROUND; ++i) {
      __asm__ __volatile__("" : "+r"(i));
      if (g_hooks) FIRE(i, i + 1, i + 2, i + 3, i + 4);
    }
    if (round >= 0) costs[round] = (seconds() - start) * 1e9 / HOOKS_A_ROUND;
  }
  qsort(costs, (size_t)g_rounds, sizeof *costs, ascending);
  g_medians[self] = costs[g_rounds / 2];
  free(costs);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[64];
  double worst = 0;
  if (argc != 4) return 2;
  const long count = atol(argv[1]);
  g_rounds = atoi(argv[2]);
  g_hooks = strcmp(argv[3], "hooks") == 0;
  if (count < 1 || count > 64 || g_rounds < 1) return 2;
  pthread_barrier_init(&g_start, NULL, (unsigned)count);
  for (long i = 0; i < count; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (long i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    if (g_medians[i] > worst) worst = g_medians[i];
  }
  printf("%.3f\n", worst);
  return 0;
}
