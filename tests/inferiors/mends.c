// A program that handles faults itself, and looks after its handlers. argv[1] is what it does while
// it is traced; argv[2] how many times it looks:
//   blocks   unmaps what a hit reads, with SIGSEGV blocked
//   both     the same, and another thread, that blocks nothing, reads there as well
//   inside   the same inside of the handler
//   aside    the same inside of the handler, on a stack of its own
//   once     the handler is one for one signal (SA_RESETHAND)
//   loop     another thread unmaps and maps all the time; this one blocks the signal in every
//            second of 20 runs
//   files    a file is cut, with SIGBUS blocked
//   late     the handler comes when the trace runs already
//   another  has another handler with the same flags, some time after the trace has begun
// build: -D_GNU_SOURCE -pthread
// It counts how often handler or mask were not its own, in all that the kernel keeps of them, and
// exits with 0 where they always were.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Far from each other: a breakpoint is in the way of what is near. */
#define KEEP __attribute__((noinline, noclone, aligned(512)))
enum { kPage = 4096, kRuns = 20 };

volatile long passes, wrong_handlers, wrong_masks, own_faults;
static atomic_int ends;

KEEP void started(void) { __asm__ volatile(""); }
KEEP void finished(int code) { _exit(code); }

KEEP long pass(const long *text) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return ++passes;
}

static struct sigaction wanted;
static int wanted_signal = SIGSEGV;

static void *map(void) {
  void *at = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(at, 1, kPage);
  return at;
}

static void rest(long ms) {
  const struct timespec little = {ms / 1000, ms % 1000 * 1000000};
  struct timespec left = little;
  while (nanosleep(&left, &left) != 0) continue;
}

/* As the kernel has it: all that it keeps of an action, and of a mask. */
struct action {
  unsigned long handler, flags, restorer, mask;
};
static struct action wanted_action;
static __thread unsigned long wanted_mask;

static struct action action_now(void) {
  struct action out = {0, 0, 0, 0};
  syscall(SYS_rt_sigaction, wanted_signal, NULL, &out, 8);
  return out;
}

static unsigned long mask_now(void) {
  unsigned long out = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &out, 8);
  return out;
}

static unsigned long bit_wanted(void) { return 1ul << (wanted_signal - 1); }

static void look(void) {
  const struct action now = action_now();
  if (memcmp(&now, &wanted_action, sizeof now) != 0) ++wrong_handlers;
  if (mask_now() != wanted_mask) ++wrong_masks;
}

static void set_blocked(int on) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, wanted_signal);
  wanted_mask = on ? wanted_mask | bit_wanted() : wanted_mask & ~bit_wanted();
  pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void *page; /* there before the trace begins */
static long checks;

/* A hit reads what the tracer takes to be there. */
static void work(void) {
  munmap(page, kPage);
  pass(page);
  for (long i = 0; i < checks; ++i) look();
}

static const int *null_pointer;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  ++own_faults;
  wanted_mask = mask_now();
  if ((wanted_mask & bit_wanted()) == 0) ++wrong_masks;
  if (wanted.sa_flags & SA_RESETHAND) wanted_action.handler = 0;
  work();
  finished(wrong_handlers != 0 || wrong_masks != 0);
}

static void on_other_fault(int number, siginfo_t *info, void *context) {
  on_fault(number, info, context);
}

static void handle(int flags) {
  wanted.sa_sigaction = wanted.sa_sigaction ? on_other_fault : on_fault;
  wanted.sa_flags = flags;
  sigaddset(&wanted.sa_mask, SIGUSR2);
  sigaction(wanted_signal, &wanted, NULL);
  wanted_action = action_now();
}

static void *reads(void *unused) {
  wanted_mask = mask_now();
  while (!ends) {
    pass(page);
    look();
  }
  return unused;
}

/* Not for long: mostly it is there again when the hit looks a second time. */
static void *unmaps(void *unused) {
  while (!ends) {
    munmap(page, kPage);
    mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  return unused;
}

static void other(void *(*does)(void *), void (*meanwhile)(void)) {
  pthread_t thread;
  pthread_create(&thread, NULL, does, NULL);
  meanwhile();
  ends = 1;
  pthread_join(thread, NULL);
}

static void read_both(void) {
  set_blocked(1);
  rest(500); /* both are at it */
  munmap(page, kPage);
  for (long i = 0; i < checks; ++i) {
    pass(page);
    look();
  }
}

/* A run each; a load that fails is not tried again in it. */
static void look_on(void) {
  for (int run = 0; run < kRuns; ++run) {
    set_blocked(run % 2);
    started();
    for (long i = 0; i < checks / kRuns; ++i) {
      pass(page);
      look();
    }
  }
}

static void cut_file(int file) {
  set_blocked(1);
  ftruncate(file, 0);
  pass(page);
  for (long i = 0; i < checks; ++i) look();
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *const what = argv[1];
  checks = atol(argv[2]);
  wanted_mask = mask_now();
  int flags = SA_SIGINFO;
  if (strcmp(what, "once") == 0) flags |= SA_RESETHAND;
  stack_t aside = {.ss_size = 1 << 16};
  if (strcmp(what, "aside") == 0) {
    flags |= SA_ONSTACK;
    aside.ss_sp = malloc(aside.ss_size);
    sigaltstack(&aside, NULL);
  }
  page = map();
  const int file = (int)syscall(SYS_memfd_create, "cut", 0);
  if (strcmp(what, "files") == 0) {
    handle(flags);
    wanted_signal = SIGBUS;
    ftruncate(file, kPage);
    page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (strcmp(what, "late") != 0) handle(flags);
  if (strcmp(what, "loop") != 0) started();
  if (strcmp(what, "late") == 0) {
    handle(flags);
    rest(500);
  }
  if (strcmp(what, "another") == 0) {
    static long mine;
    handle(flags);
    for (int i = 0; i < 50; ++i) {
      pass(&mine);
      rest(10);
    }
    set_blocked(1);
    work();
  } else if (strcmp(what, "both") == 0) {
    other(reads, read_both);
  } else if (strcmp(what, "loop") == 0) {
    other(unmaps, look_on);
  } else if (strcmp(what, "files") == 0) {
    cut_file(file);
  } else if (strcmp(what, "blocks") == 0 || strcmp(what, "late") == 0) {
    set_blocked(1);
    work();
  } else {
    ++*(volatile int *)null_pointer;
  }
  finished(wrong_handlers != 0 || wrong_masks != 0);
}
