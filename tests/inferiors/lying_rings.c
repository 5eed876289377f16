// Writes over the rings of the trace hooks that it is traced by: all of them are full at all times,
// of records that never were. A child that nobody traces goes on with it when this process stops.
// argv[1]: how many other threads there are, each with a ring, which end when a byte comes to
// standard input. Lines on standard output say that it has begun, and that they have ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ring/frame_ring.h"

enum { kThreadsMax = 64, kCells = 7 };  // of a record with registers

static volatile uint64_t sum;
static volatile int is_end, have_rings;

__attribute__((noinline, aligned(64))) void tick(uint64_t by) {
  __asm__ volatile(
      "lea 0x1234(%%rdi), %%rax\n\tadd $0x11223344, %%rax\n\tmov %%rax, %0\n\t"
      "mov %0, %%rcx\n\tlea 8(%%rcx), %%rdx"
      : "=m"(sum)
      : "D"(by)
      : "rax", "rcx", "rdx");
}

static uint8_t *find_area(void) {
  char line[512];
  unsigned long at = 0;
  FILE *const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && at == 0 && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "memfd:tracewell") != NULL && strstr(line, "rw-s") != NULL)
      at = strtoul(line, NULL, 16);
  if (maps != NULL) fclose(maps);
  if (at != 0 && ((struct tracewell_area *)at)->magic != TRACEWELL_AREA_MAGIC) at = 0;
  return (uint8_t *)at;
}

static void *has_ring(void *unused) {
  while (find_area() == NULL) usleep(10000);
  tick(1);
  __atomic_add_fetch(&have_rings, 1, __ATOMIC_SEQ_CST);
  while (!is_end) usleep(1000);
  return unused;
}

static void write_records(uint8_t *memory) {
  const struct tracewell_area *const area = (struct tracewell_area *)memory;
  const uint32_t cells = area->ring_bytes / TRACEWELL_CELL;
  uint8_t record[kCells * TRACEWELL_CELL] = {0};
  struct tracewell_frame_record *const head = (struct tracewell_frame_record *)record;
  head->bytes = sizeof *head + 1 + sizeof(struct tracewell_general);
  record[sizeof *head] = 'G';
  for (uint32_t ring = 0; ring < area->rings + area->shared_rings; ++ring) {
    uint8_t *const data = memory + area->data_offset + (uint64_t)ring * area->ring_bytes;
    for (uint32_t cell = 0; cell + kCells <= cells; cell += kCells) {
      head->ticks = cell;
      memcpy(data + cell * TRACEWELL_CELL, record, sizeof record);
    }
  }
}

static void fill_rings(uint8_t *memory) {
  const struct tracewell_area *const area = (struct tracewell_area *)memory;
  struct tracewell_frame_ring *const rings =
      (struct tracewell_frame_ring *)(memory + area->rings_offset);
  uint32_t *const commits = (uint32_t *)(memory + area->commit_offset);
  const uint32_t cells = area->ring_bytes / TRACEWELL_CELL;
  for (uint32_t ring = 0; ring < area->rings + area->shared_rings; ++ring) {
    for (uint32_t cell = 0; cell + kCells <= cells; cell += kCells)
      commits[(uint64_t)ring * cells + cell] = kCells;
    if (rings[ring].owner == 0) rings[ring].owner = 0x1000 + ring;
    rings[ring].origin = 0;
    rings[ring].head = rings[ring].tail + area->ring_bytes;
  }
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t thread[kThreadsMax];
  uint8_t *memory = NULL;
  char byte = 0;
  for (int i = 0; i < threads && i < kThreadsMax; ++i)
    pthread_create(&thread[i], NULL, has_ring, NULL);
  while (memory == NULL) {
    tick(1);
    usleep(10000);
    memory = find_area();
  }
  while (have_rings < threads) usleep(1000);
  // A fork has no other mapping of it than those that the program has made by itself.
  memory = mremap(memory, 0, ((struct tracewell_area *)memory)->bytes, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return 4;
  write_records(memory);
  const pid_t parent = getpid();
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fill_rings(memory);
    if (write(1, "begun\n", 6) != 6) return 2;
    while (getppid() == parent) fill_rings(memory);
    return 0;
  }
  if (read(0, &byte, 1) != 1) return 3;
  is_end = 1;
  for (int i = 0; i < threads && i < kThreadsMax; ++i) pthread_join(thread[i], NULL);
  if (write(1, "ended\n", 6) != 6) return 2;
  for (;;) {
    tick(2);
    usleep(1000);
  }
}
