// mends_often RUNS SEED: a program that handles faults itself, and in each run calls pass() with a
// page that goes right before the hit reads it; that ends the run. The page is in the table of what
// hits may load from (ring/readable_ranges.h): so the load fails, and the thread stops for it. In
// three of four runs the signals of faults are blocked then. Each run, from one SIGUSR1 to the
// next, has another page, and other handlers, flags and masks, by chance.
// build: -D_GNU_SOURCE -pthread
// Exits with 0 where handlers and masks, in all that the kernel keeps of them, were always what
// they had been set to; says how often it looked, and how many loads failed.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/frame_ring.h"
#include "ring/readable_ranges.h"

#define KEEP __attribute__((noinline, noclone, aligned(512)))
enum { kPage = 4096, kSetBytes = 8, kWays = 3, kLooks = 20, kMostMs = 20000 };

/* As the kernel has it: all that it keeps. */
struct action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

static const int signals[2] = {SIGSEGV, SIGBUS};
static struct action wanted[2], plain;
static __thread unsigned long wanted_mask;
static atomic_long looks, wrong_handlers, wrong_masks, handled, failed;
static atomic_int ends;
static long fine;
static unsigned long chance;
static char *room; /* for pages, each of which is used once, and a gap behind it */
static size_t used;
static const struct tracewell_ranges *known;

/* A debugger takes it away. */
static void started(void) { syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1); }

KEEP long pass(const void *page) {
  static volatile long passes;
  __asm__ volatile("" : : "r"(page) : "memory");
  return ++passes;
}

static unsigned long by_chance(void) {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  return chance ^= chance << 17;
}

static unsigned long bit(int number) { return 1ul << (number - 1); }
static unsigned long of_faults(void) { return bit(SIGSEGV) | bit(SIGBUS); }

static void set_mask(unsigned long mask) {
  wanted_mask = mask & ~(bit(SIGKILL) | bit(SIGSTOP));
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &wanted_mask, NULL, kSetBytes);
}

static void look_at_mask(void) {
  unsigned long now = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, kSetBytes);
  if (now != wanted_mask) ++wrong_masks;
}

static void look(void) {
  for (int i = 0; i < 2; ++i) {
    struct action now;
    memset(&now, 0, sizeof now);
    syscall(SYS_rt_sigaction, signals[i], NULL, &now, kSetBytes);
    if (memcmp(&now, &wanted[i], sizeof now) != 0) ++wrong_handlers;
  }
  look_at_mask();
  ++looks;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  ++handled;
  _exit(3);
}
static void on_other_fault(int number, siginfo_t *info, void *context) {
  on_fault(number, info, context);
}
/* No handler returns. */
static void other_restorer(void) { _exit(3); }

static void handle_faults(void) {
  static const unsigned long flags =
      SA_RESTART | SA_NODEFER | SA_ONSTACK | SA_NOCLDSTOP | (unsigned long)(unsigned)SA_RESETHAND;
  for (int i = 0; i < 2; ++i) {
    struct action next = plain;
    if (by_chance() & 1) next.handler = on_other_fault;
    if (by_chance() & 1) next.restorer = other_restorer;
    next.flags |= by_chance() & flags;
    next.mask = by_chance();
    syscall(SYS_rt_sigaction, signals[i], &next, NULL, kSetBytes);
    syscall(SYS_rt_sigaction, signals[i], NULL, &wanted[i], kSetBytes);
  }
}

static void give_up(const char *why) {
  printf("%s\n", why);
  fflush(stdout);
  _exit(4);
}

static uint64_t whole_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/* What hits may load from, in the memory that is shared with the tracer. */
static const struct tracewell_ranges *find_ranges(void) {
  char line[4096];
  const struct tracewell_area *area = NULL;
  FILE *const maps = fopen("/proc/self/maps", "r");
  while (maps && area == NULL && fgets(line, sizeof line, maps))
    if (strstr(line, "memfd:tracewell")) area = (void *)strtoul(line, NULL, 16);
  if (maps) fclose(maps);
  if (area == NULL || area->magic != TRACEWELL_AREA_MAGIC) give_up("nothing is shared");
  const uint64_t rings = (uint64_t)area->rings + area->shared_rings;
  const uint64_t vectors =
      whole_pages(area->rings_offset + rings * sizeof(struct tracewell_frame_ring));
  const uint64_t ranges =
      whole_pages(vectors + (uint64_t)area->rings * sizeof(struct tracewell_vectors));
  return (const void *)((const char *)area + ranges);
}

static int is_known(const void *page) {
  const uint64_t at = (uint64_t)page;
  const uint64_t before = __atomic_load_n(&known->sequence, __ATOMIC_ACQUIRE);
  uint32_t count = __atomic_load_n(&known->count, __ATOMIC_RELAXED);
  if (before & 1) return 0;
  while (count > 0 && known->ranges[count - 1].start > at) --count;
  const int found = count > 0 && at < known->ranges[count - 1].end;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return found && __atomic_load_n(&known->sequence, __ATOMIC_RELAXED) == before;
}

/* The tracer looks again once a hit has wanted that. */
static void wait_until_known(const void *page) {
  for (int ms = 0; !is_known(page); ++ms) {
    if (ms == kMostMs) give_up("a page is not loaded from");
    pass(page);
    usleep(1000);
  }
}

static void *new_page(int file) {
  void *const at = room + 2 * kPage * used++;
  ftruncate(file, kPage);
  void *const page = mmap(at, kPage, PROT_READ | PROT_WRITE,
                          MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), file,
                          0);
  if (page == MAP_FAILED) give_up("there is no page");
  memset(page, 1, kPage);
  return page;
}

static void lose(void *page, int file) {
  if (file >= 0) ftruncate(file, 0);
  else if (by_chance() & 1) munmap(page, kPage);
  else mprotect(page, kPage, PROT_NONE);
}

static long stops(void) {
  struct rusage now;
  getrusage(RUSAGE_THREAD, &now);
  return now.ru_nvcsw;
}

static void fail(int blocked) {
  const int file = by_chance() % kWays == 0 ? memfd_create("page", 0) : -1;
  void *const page = new_page(file);
  wait_until_known(page);
  set_mask(blocked ? by_chance() | of_faults() : by_chance() & ~of_faults());
  lose(page, file);
  const long before = stops();
  pass(page);
  failed += stops() != before;
  for (int i = 0; i < kLooks; ++i) {
    look();
    pass(i % 2 ? page : &fine);
  }
  set_mask(0);
  if (file >= 0) close(file);
}

/* It has a mask of its own, and fails at nothing. */
static void *stands_by(void *mask) {
  set_mask((unsigned long)mask);
  while (!ends) {
    pass(&fine);
    look_at_mask();
    usleep(100);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t other;
  if (argc < 3) return 2;
  const int runs = atoi(argv[1]);
  chance = strtoul(argv[2], NULL, 10) + 1;
  room = mmap(NULL, 2 * kPage * (size_t)runs, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 1;
  struct sigaction first = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &first, NULL);
  syscall(SYS_rt_sigaction, SIGSEGV, NULL, &plain, kSetBytes);
  pthread_create(&other, NULL, stands_by, (void *)(by_chance() & ~bit(SIGTRAP)));
  for (int run = 0; run < runs; ++run) {
    set_mask(0);
    handle_faults();
    started();
    known = find_ranges();
    fail(run % 4 != 3);
  }
  ends = 1;
  pthread_join(other, NULL);
  started();
  printf("%ld loads failed, %ld looks, %ld wrong handlers, %ld wrong masks, %ld faults\n",
         (long)failed, (long)looks, (long)wrong_handlers, (long)wrong_masks, (long)handled);
  fflush(stdout);
  return wrong_handlers != 0 || wrong_masks != 0;
}
