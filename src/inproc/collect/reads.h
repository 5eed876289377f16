/* Reads of the program's memory, which may not be there. */
#ifndef TRACEWELL_INPROC_COLLECT_READS_H
#define TRACEWELL_INPROC_COLLECT_READS_H

#include "inproc/collect/shared.h"

/* copy.S */
uint64_t copy_loads(uint8_t* to, uint64_t from, uint64_t bytes);
uint64_t copy_known_loads(uint8_t* to, uint64_t from, uint64_t bytes); /* may stop too early */
uint64_t copy_text_loads(uint8_t* to, uint64_t from, uint64_t max);

/* As these, where a fault would do harm. */
INSIDE uint64_t copy_carefully(uint8_t* to, uint64_t from, uint64_t bytes);
INSIDE uint64_t copy_text_carefully(uint8_t* to, uint64_t from, uint64_t max);

static ALWAYS_INLINE uint32_t kind_of_reads(void) { /* may change at any time */
  return __atomic_load_n(&geometry.reads, __ATOMIC_RELAXED);
}

/* How many could be read, from the beginning. */
static inline uint64_t copy(void* to, uint64_t from, uint64_t bytes) {
  if (LIKELY(kind_of_reads() == TRACEWELL_READS_LOAD)) return copy_loads(to, from, bytes);
  return copy_carefully(to, from, bytes);
}

/* Up to and with a zero byte. */
static inline uint64_t copy_text(void* to, uint64_t from, uint64_t max) {
  if (LIKELY(kind_of_reads() == TRACEWELL_READS_LOAD)) return copy_text_loads(to, from, max);
  return copy_text_carefully(to, from, max);
}

#endif
