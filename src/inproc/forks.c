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

#define OPENERS 64
#define LOOK_NS 50000000 /* whether a thread that is waited for has died */

/* Zeros in what is forked, by whatever call. */
struct forks {
  uint32_t openers[OPENERS]; /* threads; 0 = nobody */
  uint32_t forking;          /* so many threads */
  uint32_t forker;           /* one of these: its handlers may open, if alone */
  uint32_t starving;         /* a thread that forks of others keep from opening; 0 = none */
  uint32_t process;          /* whose memory this is; 0: nobody knows */
};
static struct forks* g_forks; /* NULL: fork() is not waited for */

static void wait_on(uint32_t* word, uint32_t value, long most_ns) {
  const struct timespec most = {0, most_ns};
  call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)&most, 0, 0);
}

static void wake_all(uint32_t* word) {
  call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

uint32_t process_of_memory(void) {
  const uint32_t process = g_forks ? g_forks->process : 0;
  return process != 0 ? process : process_id();
}

/* A thread may die in the middle: a filter of system calls ends it, or it is a child of vfork that
 * is killed. What the kernel does not know as a thread of this process has no descriptor in it. If
 * we have its number, it is not there any more. */
static int is_gone(uint32_t thread) {
  return thread != 0 && (thread == thread_id() || !thread_lives(process_of_memory(), thread));
}

static uint32_t* claim_opener(struct forks* forks, uint32_t self) {
  int look;
  int i;
  for (look = 0; look < 2; ++look)
    for (i = 0; i < OPENERS; ++i) {
      uint32_t was = __atomic_load_n(&forks->openers[i], __ATOMIC_RELAXED);
      if (was != 0 && !(look && is_gone(was))) continue;
      if (__atomic_compare_exchange_n(&forks->openers[i], &was, self, 0, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
        return &forks->openers[i];
    }
  return NULL;
}

static void leave_opener(uint32_t* opener) {
  __atomic_store_n(opener, 0, __ATOMIC_SEQ_CST);
  wake_all(opener);
}

/* The word that says so goes from `was`, if that is what it is. */
static void end_starving(struct forks* forks, uint32_t was) {
  if (__atomic_compare_exchange_n(&forks->starving, &was, 0, 0, __ATOMIC_SEQ_CST,
                                  __ATOMIC_RELAXED))
    wake_all(&forks->starving);
}

/* Between its handlers, and not behind them. Another one that forks may take the word over. */
static int is_forker(struct forks* forks, uint32_t self) {
  return __atomic_load_n(&forks->forker, __ATOMIC_SEQ_CST) == self;
}

int begin_opening(void) {
  struct forks* const forks = g_forks;
  const uint32_t self = thread_id();
  int opens = 0;
  int tries;
  for (tries = 0; forks && !opens && tries < TRIES; ++tries) {
    uint32_t* const opener = claim_opener(forks, self);
    const uint32_t forking = __atomic_load_n(&forks->forking, __ATOMIC_SEQ_CST);
    uint32_t nobody = 0;
    opens = opener && (forking == 0 || (forking == 1 && is_forker(forks, self)));
    if (opens) break;
    if (opener) leave_opener(opener);
    __atomic_compare_exchange_n(&forks->starving, &nobody, self, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
    wait_on(&forks->forking, forking, TRY_NS);
  }
  if (forks) end_starving(forks, self);
  return !forks || opens;
}

int begin_opening_at_last(void) {
  int tries;
  for (tries = 0; tries < TRIES; ++tries)
    if (begin_opening()) return 1;
  return 0;
}

void end_opening(void) {
  struct forks* const forks = g_forks;
  const uint32_t self = thread_id();
  int i;
  for (i = 0; forks && i < OPENERS; ++i)
    if (__atomic_load_n(&forks->openers[i], __ATOMIC_RELAXED) == self)
      return leave_opener(&forks->openers[i]);
}

/* They wait for the kernel alone: with signals held back, and no lock of the program's. */
static void wait_for_opener(uint32_t* opener) {
  uint32_t thread;
  while ((thread = __atomic_load_n(opener, __ATOMIC_SEQ_CST)) != 0) {
    if (thread != thread_id()) wait_on(opener, thread, LOOK_NS);
    if (__atomic_load_n(opener, __ATOMIC_SEQ_CST) == thread && is_gone(thread))
      __atomic_compare_exchange_n(opener, &thread, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
}

/* Forks that follow each other would keep a thread's first hook from its ring for ever. */
static void let_one_open(struct forks* forks) {
  const uint32_t self = thread_id();
  uint32_t starving = 0;
  int tries;
  for (tries = 0; tries < TRIES; ++tries) {
    starving = __atomic_load_n(&forks->starving, __ATOMIC_SEQ_CST);
    if (starving == 0 || starving == self) return;
    wait_on(&forks->starving, starving, TRY_NS);
  }
  end_starving(forks, starving);
}

static void before_fork(void) {
  struct forks* const forks = g_forks;
  int i;
  let_one_open(forks);
  __atomic_store_n(&forks->forker, thread_id(), __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&forks->forking, 1, __ATOMIC_SEQ_CST);
  for (i = 0; i < OPENERS; ++i) wait_for_opener(&forks->openers[i]);
}

static void behind_fork(void) {
  struct forks* const forks = g_forks;
  uint32_t self = thread_id();
  __atomic_compare_exchange_n(&forks->forker, &self, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  if (__atomic_sub_fetch(&forks->forking, 1, __ATOMIC_SEQ_CST) == 0) wake_all(&forks->forking);
}

static void in_child(void) { g_forks->process = process_id(); }

/* Before files are opened: that of control.c comes later. */
__attribute__((constructor(101))) static void watch_forks(void) {
  struct forks* const forks = map_wiped(sizeof *forks);
  if (!forks) return;
  forks->process = process_id();
  g_forks = forks; /* first: a program that loads us late may have threads that fork */
  if (__register_atfork(before_fork, behind_fork, in_child, &__dso_handle) != 0) g_forks = NULL;
}
