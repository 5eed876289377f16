/* A process that is forked has the descriptors that are open at that moment, whichever thread has
 * opened them, and may give up its rights then: it could cut a file that is mapped in its parent,
 * which would end by SIGBUS, or look into a folder that it would not find. So fork() waits for
 * threads that have one open, and they for it: but these not for ever, since other handlers of
 * fork() may take locks that such a thread's caller holds. */
#include <pthread.h>
#include <time.h>

#include "inproc/runtime.h"

#define TRIES 10 /* of a thread whose hook cannot be recorded then */
#define TRY_NS 20000000

extern void* __dso_handle __attribute__((visibility("hidden")));
#ifdef __GLIBC__
/* pthread_atfork() is in a library of its own before 2.34. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*);
#else
static int __register_atfork(void (*before)(void), void (*behind)(void), void (*in_child)(void),
                             void* library) {
  (void)library;
  return pthread_atfork(before, behind, in_child);
}
#endif

/* Zeros in what is forked, by whatever call. */
struct forks {
  uint32_t opened;  /* by so many threads */
  uint32_t forking; /* so many threads */
  uint32_t forker;  /* one of these: its own handlers may have hooks */
};
static struct forks* g_forks; /* NULL: fork() is not waited for */

static void wait_on(uint32_t* word, uint32_t value, const struct timespec* most) {
  call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)most, 0, 0);
}

static void wake_all(uint32_t* word) {
  call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

int begin_opening(void) {
  const struct timespec time = {0, TRY_NS};
  struct forks* const forks = g_forks;
  int tries;
  for (tries = 0; forks && tries < TRIES; ++tries) {
    uint32_t forking;
    __atomic_fetch_add(&forks->opened, 1, __ATOMIC_SEQ_CST);
    forking = __atomic_load_n(&forks->forking, __ATOMIC_SEQ_CST);
    if (forking == 0 || __atomic_load_n(&forks->forker, __ATOMIC_RELAXED) == thread_id()) return 1;
    end_opening();
    wait_on(&forks->forking, forking, &time);
  }
  return !forks;
}

int begin_opening_at_last(void) {
  int tries;
  for (tries = 0; tries < TRIES; ++tries)
    if (begin_opening()) return 1;
  return 0;
}

void end_opening(void) {
  struct forks* const forks = g_forks;
  if (forks && __atomic_sub_fetch(&forks->opened, 1, __ATOMIC_SEQ_CST) == 0)
    wake_all(&forks->opened);
}

static void before_fork(void) {
  struct forks* const forks = g_forks;
  uint32_t opened;
  __atomic_store_n(&forks->forker, thread_id(), __ATOMIC_RELAXED);
  __atomic_fetch_add(&forks->forking, 1, __ATOMIC_SEQ_CST);
  /* They wait for the kernel alone: with signals held back, and no lock of the program's. */
  while ((opened = __atomic_load_n(&forks->opened, __ATOMIC_SEQ_CST)) != 0)
    wait_on(&forks->opened, opened, NULL);
}

static void behind_fork(void) {
  struct forks* const forks = g_forks;
  __atomic_fetch_sub(&forks->forking, 1, __ATOMIC_SEQ_CST);
  wake_all(&forks->forking);
}

/* Before files are opened: that of control.c comes later. */
__attribute__((constructor(101))) static void watch_forks(void) {
  struct forks* const forks = map_wiped(sizeof *forks);
  if (forks && __register_atfork(before_fork, behind_fork, NULL, &__dso_handle) == 0)
    g_forks = forks;
}
