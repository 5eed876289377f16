/* base/freestanding: no libc, no allocation. C and C++.
 *
 * Which memory of a traced process may be loaded from, as its tracer knows it from a look at what
 * the process has mapped. Where a fault does harm, a hit loads from nothing else. What has been
 * unmapped since is still in it until the tracer looks again: such a load faults.
 *
 * The tracer writes it, and hits only their hints. It is data: whoever writes to it makes hits load
 * from where a load faults, which is mended, and no more. Odd `sequence`: it is being changed, and
 * nothing in it counts. Entries at `count` and behind it are 0. */
#ifndef TRACEWELL_RING_READABLE_RANGES_H
#define TRACEWELL_RING_READABLE_RANGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACEWELL_RANGES_MAX 4096u /* a power of two, at most 65536 */
#define TRACEWELL_RANGE_HINTS 4096u
#define TRACEWELL_HINT_SHIFT 16 /* an address has a hint with its neighbours of 64 KiB */

/* From `start` up to `end`. */
struct tracewell_range {
  uint64_t start, end;
};

struct tracewell_ranges {
  uint64_t sequence;
  uint32_t count;
  uint32_t wanted; /* 1: a hit has read memory that is in no range */
  uint32_t asks;   /* 1: the next hit that loads from here asks for the program's handlers first */
  uint32_t unused_too;
  uint64_t unused[5];
  struct tracewell_range ranges[TRACEWELL_RANGES_MAX]; /* ascending, apart */
  /* The number of the range in which an address was found last, by a hash of the address. No more
   * than a hint: all threads write here, and two of them at a time. */
  uint16_t hints[TRACEWELL_RANGE_HINTS];
};

/* What the program does about SIGSEGV and about SIGBUS, as rt_sigaction(2) has told a hit. In
 * memory of the program that no fork shares. Odd `sequence`: it is being written. */
struct tracewell_fault_actions {
  uint64_t sequence;
  struct tracewell_fault_action {
    uint64_t handler, flags, restorer, mask;
  } actions[2];
};

/* The hash is what the product has from this bit on: the number of a hint, without more ado. */
#define TRACEWELL_HINT_FACTOR 0x9e3779b97f4a7c15u
#define TRACEWELL_HINT_FOLD 52

static inline uint32_t tracewell_hint_at(uint64_t address) {
  return (uint32_t)((address >> TRACEWELL_HINT_SHIFT) * TRACEWELL_HINT_FACTOR >>
                    TRACEWELL_HINT_FOLD);
}

#ifdef __cplusplus
}
static_assert(uint64_t{TRACEWELL_RANGE_HINTS} << TRACEWELL_HINT_FOLD == 0);
static_assert(~uint64_t{0} >> TRACEWELL_HINT_FOLD == TRACEWELL_RANGE_HINTS - 1);
static_assert(sizeof(tracewell_ranges) ==
              64 + 16 * TRACEWELL_RANGES_MAX + 2 * TRACEWELL_RANGE_HINTS);
#endif
#endif
