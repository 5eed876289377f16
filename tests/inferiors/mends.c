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
// Prints how often handler or mask were not its own, and exits with 0 where they always were.
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

static void look(int blocked) {
  struct sigaction now;
  sigset_t mask;
  sigaction(wanted_signal, NULL, &now);
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  if (now.sa_sigaction != wanted.sa_sigaction || now.sa_flags != wanted.sa_flags ||
      memcmp(&now.sa_mask, &wanted.sa_mask, 8) != 0)
    ++wrong_handlers;
  if (sigismember(&mask, wanted_signal) != blocked) ++wrong_masks;
}

static void set_blocked(int on) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, wanted_signal);
  pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void *page; /* there before the trace begins */
static long checks;

/* A hit reads what the tracer takes to be there. */
static void work(int blocked) {
  munmap(page, kPage);
  pass(page);
  for (long i = 0; i < checks; ++i) look(blocked);
}

static const int *null_pointer;

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  ++own_faults;
  if (wanted.sa_flags & SA_RESETHAND) wanted.sa_handler = SIG_DFL;
  work(1);
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
  sigaction(wanted_signal, NULL, &wanted);
}

static void *reads(void *unused) {
  while (!ends) {
    pass(page);
    look(0);
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
    look(1);
  }
}

/* A run each; a load that fails is not tried again in it. */
static void look_on(void) {
  for (int run = 0; run < kRuns; ++run) {
    set_blocked(run % 2);
    started();
    for (long i = 0; i < checks / kRuns; ++i) {
      pass(page);
      look(run % 2);
    }
  }
}

static void cut_file(int file) {
  set_blocked(1);
  ftruncate(file, 0);
  pass(page);
  for (long i = 0; i < checks; ++i) look(1);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *const what = argv[1];
  checks = atol(argv[2]);
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
    work(1);
  } else if (strcmp(what, "both") == 0) {
    other(reads, read_both);
  } else if (strcmp(what, "loop") == 0) {
    other(unmaps, look_on);
  } else if (strcmp(what, "files") == 0) {
    cut_file(file);
  } else if (strcmp(what, "blocks") == 0 || strcmp(what, "late") == 0) {
    set_blocked(1);
    work(1);
  } else {
    ++*(volatile int *)null_pointer;
  }
  finished(wrong_handlers != 0 || wrong_masks != 0);
}
