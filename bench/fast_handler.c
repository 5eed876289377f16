/* What bench_fast_handler traces: a function that is called over and over, in a program with a
 * handler for SIGSEGV or without.
 *
 *   fast_handler handler|none global|stack|heap|page CALLS PHASES
 *                                      prints, of each phase, what a call costs in nanoseconds */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, aligned(512)))

int watched = 4711;

KEEP void begin_phases(void) { __asm__ volatile(""); }
KEEP void end_phase(void) { __asm__ volatile(""); }
KEEP long work(long x, const char *text) {
  __asm__ volatile("nopl 0(%%rax,%%rax,1)" : : "r"(text) : "memory");
  return 3 * x + 1;
}

static void on_fault(int number) { _exit(number); }

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { kPage = 4096, kPages = 4096 };

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  if (strcmp(argv[1], "handler") == 0) signal(SIGSEGV, on_fault);
  const long calls = atol(argv[3]), phases = atol(argv[4]);
  const int pages = strcmp(argv[2], "page") == 0;
  char on_stack[32] = "a text of 24 characters";
  char *const on_heap = strdup(on_stack);
  const char *text = strcmp(argv[2], "heap") == 0 ? on_heap : on_stack;
  const char *chunk = NULL;
  begin_phases();
  for (long phase = 0; phase < phases; ++phase) {
    long sum = 0;
    const double begin = now_ns();
    for (long i = 0; i < calls; ++i) {
      if (pages) {
        if (i % kPages == 0) {
          if (chunk) munmap((void *)chunk, (size_t)kPage * kPages);
          chunk = mmap(NULL, (size_t)kPage * kPages, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
        text = chunk + i % kPages * kPage;
      }
      sum = work(sum ^ i, text);
    }
    printf("%.2f ns, checksum %ld\n", (now_ns() - begin) / (double)calls, sum);
    fflush(stdout);
    end_phase();
  }
  return 0;
}
