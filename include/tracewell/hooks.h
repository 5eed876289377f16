/* Trace hooks: C and C++, x86-64 and i386, link with librts.
 *
 *   TRACEWELL_HOOK0(label, channel, flags, word)
 *   TRACEWELL_HOOK1(label, channel, flags, word, d1), … TRACEWELL_HOOK5(…, d1, d2, d3, d4, d5)
 *   TRACEWELL_HOOK_DATA(label, channel, flags, word, d1, length, bytes)
 *
 * `label` is a string literal, for the site's note. `word` is 0xhhhhssss: hook id, subhook. Off,
 * a hook is one relaxed load and a branch, and its arguments are not evaluated. On, it takes
 * space in a ring of its own thread's with one instruction, reads the time stamp counter once,
 * and commits with its last store: a signal handler may fire hooks at any point. No lock, no
 * system call but where a packet of the ring is full (two, to hold signals back; futex) and at a
 * thread's first hook in a trace. That one makes a file; where it cannot (no descriptor is free,
 * the disk is full), later ones try again, after a millisecond at first and once a second at last.
 * A program that restricts its system calls (seccomp) must allow close, fallocate, fcntl, fstatfs,
 * futex, getcpu, geteuid, getpid, getrandom, getresuid, gettid, madvise, mmap, munmap, newfstatat,
 * openat, prctl, read, readlinkat, rt_sigpending, rt_sigprocmask, tgkill and unlinkat;
 * and fchmod and fchmodat, where its umask takes rights of its own user.
 * Each site leaves a note in the ELF file (hook_site.h). */
#ifndef TRACEWELL_HOOKS_H
#define TRACEWELL_HOOKS_H

#if !defined(__x86_64__) && !defined(__i386__)
#error "trace hooks are for x86-64 and i386"
#endif

#include <stddef.h>
#include <stdint.h>

#include "hook_layout.h"
#include "hook_site.h"

/* Found when the program is loaded, and not by its first hook: that takes KiB of the stack, and may
 * not be done in a signal handler. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define TRACEWELL_BOUND __attribute__((noplt))
#endif
#endif
#ifndef TRACEWELL_BOUND
#define TRACEWELL_BOUND
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A thread's place in its ring. Lives in memory that a fork leaves as zeros in the child. */
struct tracewell_thread {
  uint32_t state;              /* of the channel, when the ring was made; 0 = there is none */
  uint32_t room;               /* bytes of a packet; 0 = there is no ring to write to */
  volatile uint64_t position;  /* count of packets << 44 | records in it << 24 | bytes in it */
  uint8_t* volatile packet;
  uint32_t* volatile committed; /* bytes of it */
  volatile uint64_t ticks;      /* when it was begun */
};

/* Page 0 of the control file, once the library has found it; zeros before. */
extern const volatile struct tracewell_control tracewell_hooks_control;
/* Of channels, then of components. */
extern __thread struct tracewell_thread* tracewell_hooks_threads[TRACEWELL_HOOK_CHANNELS +
                                                                 TRACEWELL_COMPONENTS_MAX]
    __attribute__((tls_model("initial-exec")));

/* A ring for this thread. NULL: `word` is not wanted, or there can be none; then it was counted. */
TRACEWELL_BOUND struct tracewell_thread* tracewell_hooks_enter(unsigned channel, uint32_t state,
                                                               uint32_t word);
/* Does the channel's filter let it pass? */
TRACEWELL_BOUND int tracewell_hooks_wanted(unsigned channel, uint32_t word);
/* As tracewell_hook_words and tracewell_hook_data, in a session that records processors. */
TRACEWELL_BOUND void tracewell_hooks_words_here(unsigned channel, uint32_t state, uint32_t flags,
                                                uint32_t word, unsigned count, unsigned long d1,
                                                unsigned long d2, unsigned long d3,
                                                unsigned long d4, unsigned long d5);
TRACEWELL_BOUND void tracewell_hooks_data_here(unsigned channel, uint32_t state, uint32_t flags,
                                               uint32_t word, unsigned long d1, size_t length,
                                               const void* bytes);
/* Begins a packet with room for `bytes`. 0: there is none, the record was counted as lost. */
TRACEWELL_BOUND int tracewell_hooks_turn(struct tracewell_thread* thread, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#include "hook_x86.h"

/* A record under way. */
struct tracewell_record {
  uint8_t* at;
  uint32_t* committed;
  uint64_t ticks;
  uint32_t bytes;
};

TRACEWELL_INLINE int tracewell_begin(unsigned channel, uint32_t state, uint32_t word,
                                     struct tracewell_record* record) {
  const uint32_t bytes = record->bytes;
  struct tracewell_thread* thread = tracewell_hooks_threads[channel];
  if (__builtin_expect(thread->state != state, 0)) {
    thread = tracewell_hooks_enter(channel, state, word);
    if (!thread) return 0;
  }
  for (;;) {
    /* The position first: whatever changes the rest, changes it too. */
    const uint64_t position = thread->position;
    uint8_t* const packet = thread->packet;
    const uint32_t offset = (uint32_t)position & 0xffffffu;
    record->committed = thread->committed;
    record->ticks = tracewell_ticks();
    if (__builtin_expect(offset + bytes > thread->room ||
                             (record->ticks - thread->ticks) >> 47 != 0, 0)) {
      if (!tracewell_hooks_turn(thread, bytes)) return 0;
      continue;
    }
    if (__builtin_expect(!tracewell_take(&thread->position, position,
                                         position + bytes + (1u << 24)), 0))
      continue;
    record->at = packet + offset;
    tracewell_store_32(record->at, bytes << 8);
    TRACEWELL_BARRIER(); /* nothing of the record before its length */
    return 1;
  }
}

TRACEWELL_INLINE void tracewell_commit(const struct tracewell_record* record, uint32_t id,
                                       uint32_t flags) {
  tracewell_store_32(record->at + 4, (uint32_t)(record->ticks >> 16));
  TRACEWELL_BARRIER();
  tracewell_store_32(record->at, id | flags << 8 | (uint32_t)record->ticks << 16);
  __asm__ __volatile__("addl %1, %0" : "+m"(*record->committed) : "ri"(record->bytes) : "memory");
}

struct __attribute__((packed, may_alias)) tracewell_word {
  unsigned long value;
};

/* At a multiple of four. Volatile, lest the compiler gathers words in memory and copies them. */
TRACEWELL_INLINE void tracewell_store_word(uint8_t* at, unsigned long word) {
  ((volatile struct tracewell_word*)(void*)at)->value = word;
}

#define TRACEWELL_STATE_SELDOM (TRACEWELL_STATE_FILTERED | TRACEWELL_STATE_CPU)
#define TRACEWELL_RECORD_WORDS \
  (sizeof(long) == 8 ? TRACEWELL_RECORD_WORDS_64 : TRACEWELL_RECORD_WORDS_32)
#define TRACEWELL_RECORD_GENERIC \
  (sizeof(long) == 8 ? TRACEWELL_RECORD_GENERIC_64 : TRACEWELL_RECORD_GENERIC_32)

/* `count` is a constant where this is called. */
TRACEWELL_INLINE void tracewell_hook_words(unsigned channel, uint32_t state, uint32_t flags,
                                           uint32_t word, unsigned count, unsigned long d1,
                                           unsigned long d2, unsigned long d3, unsigned long d4,
                                           unsigned long d5) {
  struct tracewell_record record;
  uint8_t* at;
  if (__builtin_expect(state & TRACEWELL_STATE_SELDOM, 0)) {
    if (state & TRACEWELL_STATE_CPU) {
      tracewell_hooks_words_here(channel, state, flags, word, count, d1, d2, d3, d4, d5);
      return;
    }
    if (!tracewell_hooks_wanted(channel, word)) return;
  }
  record.bytes = TRACEWELL_RECORD_HEAD + count * (uint32_t)sizeof(long);
  if (!tracewell_begin(channel, state, word, &record)) return;
  at = record.at + TRACEWELL_RECORD_HEAD;
  tracewell_store_32(record.at + 8, word);
  if (count > 0) tracewell_store_word(at, d1);
  if (count > 1) tracewell_store_word(at + sizeof(long), d2);
  if (count > 2) tracewell_store_word(at + 2 * sizeof(long), d3);
  if (count > 3) tracewell_store_word(at + 3 * sizeof(long), d4);
  if (count > 4) tracewell_store_word(at + 4 * sizeof(long), d5);
  tracewell_commit(&record, TRACEWELL_RECORD_WORDS + count, flags);
}

/* `length` bytes, at most TRACEWELL_HOOK_DATA_MAX of them. */
static __attribute__((noinline, unused)) void tracewell_hook_data(
    unsigned channel, uint32_t state, uint32_t flags, uint32_t word, unsigned long d1,
    size_t length, const void* bytes) {
  struct tracewell_record record;
  if (__builtin_expect(state & TRACEWELL_STATE_SELDOM, 0)) {
    if (state & TRACEWELL_STATE_CPU) {
      tracewell_hooks_data_here(channel, state, flags, word, d1, length, bytes);
      return;
    }
    if (!tracewell_hooks_wanted(channel, word)) return;
  }
  if (length > TRACEWELL_HOOK_DATA_MAX) length = TRACEWELL_HOOK_DATA_MAX;
  const uint32_t head = TRACEWELL_RECORD_HEAD + (uint32_t)sizeof(long) + 2;
  record.bytes = (head + (uint32_t)length + 3) & ~3u;
  if (!tracewell_begin(channel, state, word, &record)) return;
  const uint16_t stored = (uint16_t)length;
  tracewell_store_32(record.at + 8, word);
  tracewell_store_word(record.at + TRACEWELL_RECORD_HEAD, d1);
  __builtin_memcpy(record.at + head - 2, &stored, 2);
  if (length) __builtin_memcpy(record.at + head, bytes, length);
  tracewell_commit(&record, TRACEWELL_RECORD_GENERIC, flags);
}

#include "hook_macros.h"

#endif
