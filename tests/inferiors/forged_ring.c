// Trace hooks, and a child that was forked without exec, has fewer rights by then, and writes to
// the page that its parent's ring begins with, again and again.
// libs: -lrts
//
//   forged_ring shape|all HOOKS
// shape: what says how large the ring is and whose; it is as it was when the hooks are done. all:
// every word of the page. The process stops itself then: once it goes on, a new session may have
// begun, in which it fires a hook more. 0: its own memory is as it was.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kOwnBytes = 1 << 20, kOther = 65534 };

static struct {
  volatile int begun, done;
} * together;

static struct tracewell_ring* find_ring(void) {
  char line[4096];
  unsigned long at = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps && at == 0 && fgets(line, sizeof line, maps))
    if (strstr(line, "/.rings/")) at = strtoul(line, NULL, 16);
  if (maps) fclose(maps);
  return (struct tracewell_ring*)at;
}

static void forge_shape(volatile struct tracewell_ring* ring, uint32_t value) {
  ring->packet_bytes = value;
  ring->slots = value;
  ring->mode = value;
  ring->pid = ring->number = value;
  ring->identity[0] = ring->identity[1] = ring->start = value;
  ring->record_bytes_max = value;
}

static void forge_all(volatile uint64_t* words, uint32_t value) {
  for (unsigned i = 0; i < sizeof(struct tracewell_ring) / sizeof *words; ++i)
    words[i] = (uint64_t)value << 32 | value;
}

static void forge(int all, pid_t parent) {
  static const uint32_t values[] = {1u << 30, 0, 0xffffffffu, 1, 9216, 2, 65, 0x80000000u};
  struct tracewell_ring* const ring = find_ring();
  struct tracewell_ring before;
  unsigned i = 0;
  if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) _exit(2);
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* setresuid takes it back */
  if (!ring || getppid() != parent) _exit(1);
  before = *ring;
  for (; !together->done; i = (i + 1) % (sizeof values / sizeof *values)) {
    if (all) forge_all((volatile uint64_t*)ring, values[i]);
    else forge_shape(ring, values[i]);
    together->begun = 1;
  }
  if (!all) *ring = before;
  _exit(0);
}

int main(int argc, char** argv) {
  uint8_t* own;
  const pid_t self = getpid();
  pid_t child;
  int status = 0;
  if (argc < 3) return 1;
  together = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  own = mmap(NULL, kOwnBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (together == MAP_FAILED || own == MAP_FAILED) return 1;
  memset(own, 'O', kOwnBytes);
  TRCHKL1(HKWD_USER1, 0);
  child = fork();
  if (child == 0) forge(strcmp(argv[1], "all") == 0, self);
  if (child < 0) return 1;
  while (!together->begun)
    if (waitpid(child, &status, WNOHANG) == child) return 3;
  for (int i = 1; i < atoi(argv[2]); ++i) TRCHKL1(HKWD_USER1, i);
  together->done = 1;
  if (waitpid(child, &status, 0) != child || status != 0) return 3;
  if (strcmp(argv[1], "all") != 0) return 0;
  raise(SIGSTOP);
  TRCHKL1(HKWD_USER1, 0);
  for (int i = 0; i < kOwnBytes; ++i)
    if (own[i] != 'O') return 4;
  return 0;
}
