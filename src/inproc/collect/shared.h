/* What the parts of the collector share. */
#ifndef TRACEWELL_INPROC_COLLECT_SHARED_H
#define TRACEWELL_INPROC_COLLECT_SHARED_H

#include <stdint.h>

#include "ax/hit.h"
#include "ring/frame_ring.h"

#define INSIDE __attribute__((visibility("hidden")))
#define ENTRY __attribute__((visibility("hidden"), used))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Behind the code, in memory that no other process has. What stands in the area is data: whoever
 * has it mapped may change it at any time, also while it is looked at. It is read once, and leads
 * to no place outside of the ring. */
extern const struct tracewell_geometry geometry INSIDE;

/* A record's place. */
struct Reserved {
  struct tracewell_frame_ring* ring;
  uint32_t* commit;
  uint8_t* data; /* NULL: there is no room */
  uint64_t head; /* where it begins */
  uint32_t tid;
  uint32_t is_shared; /* 1: the ring is not its thread's alone */
};

static inline void store(uint8_t* to, uint64_t value, uint32_t bytes) {
  __builtin_memcpy(to, &value, bytes);
}

static inline int has_room(struct tracewell_hit* hit, uint64_t bytes) {
  if (LIKELY((uint64_t)(hit->end - hit->at) >= bytes)) return 1;
  hit->overflowed = 1;
  return 0;
}

/* The vector state, or what has changed of it since the thread's last record that told of it. The
 * record has this place, where `reserved` bytes are its own. What is returned, if it is not NULL,
 * is for end_vector(), once the record is finished. */
INSIDE struct tracewell_vectors* add_vector(struct tracewell_hit* hit,
                                            const struct Reserved* place, uint64_t reserved,
                                            const struct tracewell_step* step);
INSIDE void end_vector(struct tracewell_vectors* vectors);
/* What a record has told of it is lost with the record. */
INSIDE void forget_vectors(const struct Reserved* place);

#endif
