// One thread calls hit() for ever; another looks for code that a tracer has mapped into the program
// since the first line of input came, and writes over it: loops of one instruction. It says so once
// the first thread is in such a loop, and waits.
// build: -D_GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 256, kChunk = 0x10000 };

static volatile long calls;
static clockid_t time_of_caller;

__attribute__((noinline, noclone)) void hit(long n) { calls = n; }

/* Mappings of code that are of no file and have the size of a chunk. */
static int code_of_nobody(uintptr_t *starts) {
  int count = 0;
  char line[512];
  FILE *const maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long start = 0, end = 0, inode = 0;
    char rights[8] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, rights, &inode) != 4) continue;
    if (strcmp(rights, "r-xp") || inode || end - start != kChunk || count == kMost) continue;
    starts[count++] = start;
  }
  if (maps) fclose(maps);
  return count;
}

static long ms_of_caller(void) {
  struct timespec time;
  clock_gettime(time_of_caller, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* It has run for a thousand times as long as a call takes, and has called nothing. */
static void await_caller(void) {
  long before;
  do {
    before = calls;
    const long begin = ms_of_caller();
    while (ms_of_caller() - begin < 20) usleep(1000);
  } while (calls != before);
}

static void *overwrite(void *unused) {
  static uintptr_t starts[kMost];
  char line[16];
  while (fgets(line, sizeof line, stdin)) {
    const int count = code_of_nobody(starts);
    for (int i = 0; i < count; ++i) {
      mprotect((void *)starts[i], kChunk, PROT_READ | PROT_WRITE | PROT_EXEC);
      volatile uint16_t *const code = (volatile uint16_t *)starts[i];
      for (int at = 0; at < kChunk / 2; ++at) code[at] = 0xfeeb;
    }
    if (count > 0) await_caller();
    printf("overwritten %d\n", count);
    fflush(stdout);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  if (pthread_getcpuclockid(pthread_self(), &time_of_caller) != 0) return 2;
  if (pthread_create(&thread, NULL, overwrite, NULL) != 0) return 2;
  printf("ready\n");
  fflush(stdout);
  for (long n = 0;; ++n) {
    for (volatile int i = 0; i < 10000; ++i) {
    }
    hit(n);
  }
}
