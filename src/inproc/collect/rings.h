/* Rings, as hits write to them: ring/frame_ring.h. */
#ifndef TRACEWELL_INPROC_COLLECT_RINGS_H
#define TRACEWELL_INPROC_COLLECT_RINGS_H

#include "inproc/collect/system.h"

static ALWAYS_INLINE int exchange_if(uint64_t* number, uint64_t expected, uint64_t wanted) {
  uint8_t done;
  __asm__ volatile("cmpxchg %3, %1"
                   : "=@cce"(done), "+m"(*number), "+a"(expected)
                   : "r"(wanted)
                   : "memory");
  return done;
}

static ALWAYS_INLINE int is_read(void) {
  return (__atomic_load_n(&geometry.area->reader, __ATOMIC_RELAXED) & TRACEWELL_READER) != 0;
}

/* 0: there is none. */
static ALWAYS_INLINE uint64_t word_at_fs(void) {
  uint64_t word = 0;
  __asm__ volatile("1: mov %%fs:0, %0\n2:" MAY_FAULT("2b") : "+r"(word));
  return word;
}

/* This one may change at any time. */
static ALWAYS_INLINE uint32_t kind_of_keys(void) {
  return __atomic_load_n(&geometry.keys, __ATOMIC_RELAXED);
}

/* Whatever `head` says, a cell of the ring. */
static ALWAYS_INLINE uint64_t place_in_ring(uint64_t head, uint64_t ring_bytes) {
  return head & (ring_bytes - TRACEWELL_CELL);
}
static ALWAYS_INLINE uint32_t* commit_word(uint64_t ring, uint64_t ring_bytes, uint64_t at) {
  return geometry.commits + (ring * ring_bytes + at) / TRACEWELL_CELL;
}
static ALWAYS_INLINE uint8_t* data_at(uint64_t ring, uint64_t ring_bytes, uint64_t at) {
  return geometry.data + ring * ring_bytes + at;
}

static ALWAYS_INLINE int move_head(struct tracewell_frame_ring* ring, uint64_t from, uint64_t to,
                                   int is_shared) {
  if (!is_shared) return exchange_if(&ring->head, from, to);
  return __atomic_compare_exchange_n(&ring->head, &from, to, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

static ALWAYS_INLINE uint64_t whole_cells(uint64_t bytes) {
  return (bytes + TRACEWELL_CELL - 1) & ~(uint64_t)(TRACEWELL_CELL - 1);
}

static ALWAYS_INLINE void commit(const struct Reserved* place, uint64_t reserved, uint64_t used) {
  uint64_t bytes = whole_cells(used);
  if (bytes != reserved &&
      !move_head(place->ring, place->head + reserved, place->head + bytes, place->is_shared))
    bytes = reserved; /* another record is behind it */
  __atomic_store_n(place->commit, (uint32_t)(bytes / TRACEWELL_CELL), __ATOMIC_RELEASE);
}

/* Room for a record in the ring of this thread, whole cells. */
INSIDE struct Reserved reserve(uint64_t bytes, uint32_t patience);
/* This thread's number. */
INSIDE uint32_t number_of_thread(void);

#endif
