/* A process that is forked has the descriptors that are open at that moment, whichever thread has
 * opened them, and may give up its rights then: it could cut a file that is mapped in its parent,
 * which would end by SIGBUS. So fork() waits for threads that have one open, and they for it.
 *
 * Neither waits for ever: handlers of fork() may take locks that such a thread's caller holds. */
#include <time.h>

#include "inproc/runtime.h"

#define TRIES 10 /* of a thread whose hook cannot be recorded then */
#define TRY_NS 20000000

extern void* __dso_handle __attribute__((visibility("hidden")));
/* That of glibc: pthread_atfork() is in a library of its own there, before 2.34. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*)
    __attribute__((weak));

static uint32_t g_opened;  /* by so many threads */
static uint32_t g_forking; /* so many threads */
static uint32_t g_forker;  /* one of these: its own handlers may have hooks */

static void wait_a_while(uint32_t* word, uint32_t value) {
  const struct timespec time = {0, TRY_NS};
  call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)&time, 0, 0);
}

static void wake_all(uint32_t* word) {
  call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

int begin_opening(void) {
  int tries;
  for (tries = 0; tries < TRIES; ++tries) {
    uint32_t forking;
    __atomic_fetch_add(&g_opened, 1, __ATOMIC_SEQ_CST);
    forking = __atomic_load_n(&g_forking, __ATOMIC_SEQ_CST);
    if (forking == 0 || __atomic_load_n(&g_forker, __ATOMIC_RELAXED) == thread_id()) return 1;
    end_opening();
    wait_a_while(&g_forking, forking);
  }
  return 0;
}

void end_opening(void) {
  if (__atomic_sub_fetch(&g_opened, 1, __ATOMIC_SEQ_CST) == 0) wake_all(&g_opened);
}

static void before_fork(void) {
  int tries;
  __atomic_store_n(&g_forker, thread_id(), __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_forking, 1, __ATOMIC_SEQ_CST);
  for (tries = 0; tries < TRIES; ++tries) {
    const uint32_t opened = __atomic_load_n(&g_opened, __ATOMIC_SEQ_CST);
    if (opened == 0) break;
    wait_a_while(&g_opened, opened);
  }
}

static void behind_fork(void) {
  __atomic_fetch_sub(&g_forking, 1, __ATOMIC_SEQ_CST);
  wake_all(&g_forking);
}

/* Its other threads are not here. */
static void in_child(void) {
  __atomic_store_n(&g_opened, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&g_forking, 0, __ATOMIC_SEQ_CST);
}

__attribute__((constructor)) static void watch_forks(void) {
  if (__register_atfork) __register_atfork(before_fork, behind_fork, in_child, &__dso_handle);
}
