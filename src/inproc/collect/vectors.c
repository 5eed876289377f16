/* Vector state in a hit's record. */
#include "inproc/collect/shared.h"
#include "inproc/collect/vector_registers.h"

enum { kVectorHead = 6, kVectorAlign = 64, kLegacyBytes = 512, kHeaderBytes = 64 };
enum { kScratchBytes = 192 };

static inline void save_vectors(uint8_t* to, uint64_t components) {
  __asm__ volatile("xsavec64 (%0)"
                   :
                   : "r"(to), "a"((uint32_t)components), "d"((uint32_t)(components >> 32))
                   : "memory");
}

static void add_whole_vector(struct tracewell_hit* hit, const struct tracewell_step* step) {
  uint8_t* const head = hit->at;
  uint8_t* const area = (uint8_t*)(((uint64_t)head + kVectorHead + kVectorAlign - 1) &
                                   ~(uint64_t)(kVectorAlign - 1));
  head[0] = 'X';
  head[1] = (uint8_t)(area - head - kVectorHead);
  store(head + 2, step->bytes, 4);
  hit->at = area + step->bytes;
  /* XSAVEC writes the header's first two words; the rest has to be 0 for who restores it. */
  uint64_t* const rest = (uint64_t*)(area + kLegacyBytes);
  for (unsigned i = 2; i < kHeaderBytes / 8; ++i) rest[i] = 0;
  save_vectors(area, step->value);
}

/* Here and in differ(): words, as many as fit `bytes`. Unrolled, since a thread that is led out of
 * here makes a single step for each instruction. */
static inline void copy_words(uint8_t* to, const uint8_t* from, uint32_t bytes) {
#pragma GCC unroll 16
  for (uint32_t i = 0; i < bytes / 8; ++i) ((uint64_t*)to)[i] = ((const uint64_t*)from)[i];
}

static inline int differ(const uint8_t* a, const uint8_t* b, uint32_t bytes) {
  const uint64_t* const one = (const uint64_t*)a;
  const uint64_t* const other = (const uint64_t*)b;
  uint64_t difference = 0;
  uint32_t i = 0;
  for (; i + 4 <= bytes / 8; i += 4)
    difference |= (one[i] ^ other[i]) | (one[i + 1] ^ other[i + 1]) | (one[i + 2] ^ other[i + 2]) |
                  (one[i + 3] ^ other[i + 3]);
  for (; i < bytes / 8; ++i) difference |= one[i] ^ other[i];
  return difference != 0;
}

static inline uint64_t components_in_use(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (uint64_t)high << 32 | low;
}

/* Registers serve as room to work in, of which all that is in use has to be kept: not where the
 * upper halves of ZMM registers are, nor in states that only XRSTOR makes, where processors are not
 * exact about what is in use. */
static inline uint64_t direct_of(uint64_t in_use) {
  const uint64_t upper = in_use & (kAvx | kZmmHigh);
  if (upper == 0 || (upper == kAvx && (in_use & kSse) != 0))
    return geometry.vectors_direct;
  return geometry.vectors_direct & ~(uint64_t)(kSse | kAvx);
}

/* Without a look at memory that XSAVEC would have to write first, which takes longer than all. An
 * MXCSR that is not its first value does not count as in use, so who has no other SSE state gets
 * that from XSAVEC. */
static ALWAYS_INLINE int is_as_last(struct tracewell_vectors* vectors, uint64_t components,
                                    uint8_t* scratch) {
  const uint8_t* const last = vectors->states[vectors->which & 1];
  const int another_mxcsr = mxcsr_differs(last + kMxcsrAt); /* slow, but XGETBV need not wait */
  const uint64_t all_in_use = components_in_use();
  const uint64_t in_use = all_in_use & components;
  return !another_mxcsr && in_use == vectors->present && (in_use & kSse) != 0 &&
         (in_use & ~direct_of(all_in_use)) == 0 &&
         !any_differs(in_use, last, scratch);
}

/* Those parts that are not as they were, to `to`; behind them. Both states are in the cache; the
 * ring is mostly in another one's. */
static uint8_t* copy_changes(uint64_t before, const uint8_t* last, const uint8_t* now,
                             uint8_t* scratch, struct tracewell_vector_change* change,
                             uint8_t* to) {
  __builtin_memcpy(&change->present, now + kLegacyBytes, sizeof change->present);
  const uint64_t direct = direct_of(components_in_use());
  for (uint32_t i = 0; i < geometry.vector_part_count && i < TRACEWELL_VECTOR_PARTS; ++i) {
    const struct tracewell_vector_part* const part = &geometry.vector_parts[i];
    if ((change->present & part->component) == 0) continue;
    const uint8_t* const its_last = last + part->offset;
    if ((before & part->component) != 0 &&
        !((direct & part->component) != 0
              ? is_not_in_registers(part, its_last, scratch)
              : differ(now + part->offset, its_last, part->bytes)))
      continue;
    change->parts |= 1u << i;
    copy_words(to, now + part->offset, part->bytes);
    to += part->bytes;
  }
  return to;
}

static ALWAYS_INLINE void put_change(struct tracewell_hit* hit,
                                     const struct tracewell_vector_change* change) {
  uint8_t* const head = hit->at;
  *head = 'D';
  __builtin_memcpy(head + 1, change, sizeof *change);
  hit->at = head + 1 + sizeof *change + change->bytes;
}

static NOINLINE void add_vector_change(struct tracewell_hit* hit, struct tracewell_vectors* vectors,
                                       uint32_t base, const struct tracewell_step* step,
                                       uint8_t* scratch) {
  const uint8_t* const last = vectors->states[vectors->which & 1];
  uint8_t* const now = vectors->states[~vectors->which & 1];
  const uint64_t before = base != 0 ? vectors->present : 0;
  struct tracewell_vector_change change = {0, 0, base, base, before};
  uint8_t* const parts = hit->at + 1 + sizeof change;
  save_vectors(now, step->value);
  uint8_t* const end = copy_changes(before, last, now, scratch, &change, parts);
  change.bytes = (uint32_t)(end - parts);
  vectors->steady = change.parts == 0 && change.present == before;
  if (!vectors->steady) {
    vectors->which ^= 1;
    vectors->present = change.present;
    if (++vectors->serial == 0) vectors->serial = 1;
    change.generation = vectors->generation = vectors->serial;
  }
  put_change(hit, &change);
}

static struct tracewell_vectors* vectors_of(const struct tracewell_frame_ring* ring) {
  return geometry.vectors + (ring - geometry.rings);
}

void forget_vectors(const struct Reserved* place) {
  if (geometry.vector_part_count != 0 && !place->is_shared)
    __atomic_store_n(&vectors_of(place->ring)->generation, 0, __ATOMIC_RELAXED);
}

/* A record that tells of a change comes behind the one that it changes. So it is only done where no
 * handler's record has got behind this one already, and none can tell of a change until this one is
 * finished, for it may have to move, or be forgotten. The reader forgets at any time: what is told
 * is a change of what was looked at first.
 * Registers that serve as room to work in are kept on the stack meanwhile: in the area, whoever has
 * it could give them other values. */
struct tracewell_vectors* add_vector(struct tracewell_hit* hit, const struct Reserved* place,
                                     uint64_t reserved, const struct tracewell_step* step) {
  uint8_t room[kScratchBytes + kVectorAlign];
  uint8_t* const scratch = (uint8_t*)(((uint64_t)room + kVectorAlign - 1) &
                                      ~(uint64_t)(kVectorAlign - 1));
  if (!has_room(hit, kVectorHead + kVectorAlign - 1 + step->bytes)) return 0;
  struct tracewell_vectors* const vectors = vectors_of(place->ring);
  if (geometry.vector_part_count == 0 || place->is_shared || vectors->busy) {
    add_whole_vector(hit, step);
    return 0;
  }
  __atomic_store_n(&vectors->busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler is on this thread too */
  const uint32_t base = __atomic_load_n(&vectors->generation, __ATOMIC_RELAXED);
  if (UNLIKELY(__atomic_load_n(&place->ring->head, __ATOMIC_RELAXED) != place->head + reserved)) {
    add_whole_vector(hit, step);
  } else if (LIKELY(base != 0 && vectors->steady && is_as_last(vectors, step->value, scratch))) {
    const struct tracewell_vector_change none = {0, 0, base, base, vectors->present};
    put_change(hit, &none);
  } else {
    add_vector_change(hit, vectors, base, step, scratch);
  }
  return vectors;
}

void end_vector(struct tracewell_vectors* vectors) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&vectors->busy, 0, __ATOMIC_RELAXED);
}
