/* Which ring a thread writes to, and where in it: ring/frame_ring.h. */
#include "inproc/collect/rings.h"

static uint64_t key_of_thread(void) {
  const uint32_t kind = kind_of_keys();
  uint64_t base = 0;
  if (LIKELY(kind == TRACEWELL_KEYS_SELF))
    base = word_at_fs();
  else if (kind == TRACEWELL_KEYS_FS_BASE)
    __asm__("rdfsbase %0" : "=r"(base));
  if (LIKELY(base != 0)) return base;
  return (uint64_t)thread_id() * 2 + 1;
}

static int is_free(uint64_t key) { return key == 0 || key == TRACEWELL_NOBODY; }

enum { kTriesMax = 64 }; /* where others take what was free */

/* The entry of this key in the table, which is made if there is none. NULL: the table is full. */
static struct tracewell_thread* search_thread(uint64_t key) {
  struct tracewell_thread* const threads = geometry.threads;
  const uint32_t mask = geometry.thread_mask;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    struct tracewell_thread* free = 0;
    uint64_t was = 0;
    uint32_t at = tracewell_thread_at(key, mask);
    for (uint32_t looked = 0; looked <= mask; ++looked, at = (at + 1) & mask) {
      const uint64_t there = __atomic_load_n(&threads[at].key, __ATOMIC_ACQUIRE);
      if (there == key) return &threads[at];
      if (!free && is_free(there)) {
        free = &threads[at];
        was = there;
      }
      if (there == 0) break;
    }
    if (!free) return 0;
    if (__atomic_compare_exchange_n(&free->key, &was, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return free;
  }
  return 0;
}

/* A ring for the thread of this key, as tracewell_thread.place has it. */
static uint32_t choose_ring(uint64_t key) {
  const uint32_t count = geometry.ring_count;
  uint32_t at = count != 0 ? tracewell_ring_at(key, count) : 0;
  for (uint32_t looked = 0; looked < count; ++looked, at = at + 1 == count ? 0 : at + 1) {
    uint64_t* const owner = &geometry.rings[at].owner;
    uint64_t nobody = 0;
    if (__atomic_load_n(owner, __ATOMIC_RELAXED) == 0 &&
        __atomic_compare_exchange_n(owner, &nobody, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return at + 1;
  }
  return (count + tracewell_ring_at(key, geometry.shared_count) + 1) | TRACEWELL_SHARED;
}

/* A hit of a signal's handler may have come in between, and chosen. */
static uint32_t take_ring(struct tracewell_thread* thread, uint64_t key) {
  const uint32_t chosen = choose_ring(key);
  uint32_t none = 0;
  if (__atomic_compare_exchange_n(&thread->place, &none, chosen, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED))
    return chosen;
  if (!(chosen & TRACEWELL_SHARED))
    __atomic_store_n(&geometry.rings[chosen - 1].owner, 0, __ATOMIC_RELEASE);
  return none;
}

struct Ring {
  uint32_t number;
  uint32_t tid;
  int is_shared;
};

/* Whatever the table says, one of the rings that there are. Without room in the table, each hit
 * asks for its thread's number. */
static struct Ring ring_of_thread(void) {
  const uint64_t key = key_of_thread();
  struct tracewell_thread* const thread = search_thread(key);
  const uint32_t count = geometry.ring_count, all = count + geometry.shared_count;
  struct Ring out = {count + tracewell_ring_at(key, geometry.shared_count), 0, 1};
  if (UNLIKELY(!thread)) {
    out.tid = thread_id() | TRACEWELL_OWN_NUMBER;
    return out;
  }
  uint32_t place = __atomic_load_n(&thread->place, __ATOMIC_ACQUIRE);
  if (UNLIKELY(place == 0)) place = take_ring(thread, key);
  out.tid = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);
  if (UNLIKELY(out.tid == 0)) {
    out.tid = thread_id() | TRACEWELL_OWN_NUMBER;
    __atomic_store_n(&thread->tid, out.tid, __ATOMIC_RELAXED);
  }
  const uint32_t number = (place & ~TRACEWELL_SHARED) - 1;
  if (UNLIKELY(number >= all)) return out;
  out.number = number;
  out.is_shared = number >= count;
  return out;
}

uint32_t number_of_thread(void) { return ring_of_thread().tid & ~TRACEWELL_OWN_NUMBER; }

static int may_yield(void) { return __atomic_load_n(&geometry.yields, __ATOMIC_RELAXED) != 0; }

enum { kPausesAtATime = 16, kTicksLog2 = 20, kLooksLog2 = 15, kAwakeTicks = 1 << 18 };
/* Of a look, which is longer where the thread had no processor; and of each wait. */
enum { kLookTicksMax = 1 << 20, kWaitTicksMin = 1 << 10 };

/* For the reader to make room. 0: it does not, or nothing is to be recorded any more. Awake, since
 * a system call may kill a program that has begun to filter its calls (seccomp) a moment ago. But
 * where more threads are busy than there are processors, each of those that wait would have its
 * whole time before the reader, or the thread whose record is in the way: there they are let run,
 * once the reader has had some 100 us. Should the counter not go on, the looks are counted as
 * well.
 *
 * In a ring that threads share, others may take what becomes free each time. So `waited` has the
 * ticks that the hit has waited, all together, which are no more than its patience either. A wait
 * counts as some, should the counter not go on. Who had no processor for long has not looked, and
 * the thread whose record is in the way may have had none, either: that time does not count. */
static int wait_for_room(struct tracewell_frame_ring* ring, uint64_t patience, uint64_t* waited) {
  const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
  const uint64_t ticks_max = patience << kTicksLog2;
  uint64_t now = read_ticks(), waited_here = 0;
  *waited += kWaitTicksMin;
  for (uint64_t looks = patience << kLooksLog2; looks != 0 && waited_here < ticks_max; --looks) {
    if (!is_read() || __atomic_load_n(&ring->impatient, __ATOMIC_RELAXED)) return 0;
    if (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) != tail) return *waited < ticks_max;
    if (*waited > kAwakeTicks && may_yield())
      (void)call(kSchedYield, 0, 0, 0, 0, 0, 0);
    else
      for (int k = 0; k < kPausesAtATime; ++k) __builtin_ia32_pause();
    const uint64_t took = read_ticks() - now;
    const uint64_t counts = took < kLookTicksMax ? took : kLookTicksMax;
    now += took;
    waited_here += counts;
    *waited += counts;
  }
  __atomic_store_n(&ring->impatient, 1, __ATOMIC_SEQ_CST);
  if (LIKELY(__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == tail)) return 0;
  __atomic_store_n(&ring->impatient, 0, __ATOMIC_RELAXED); /* it did meanwhile */
  return 1;
}

/* Behind it a record begins at the ring's first byte. */
static void fill_gap(uint32_t number, uint64_t ring_bytes, uint64_t at) {
  const struct tracewell_frame_record nothing = {TRACEWELL_NO_PLAN, sizeof nothing, 0, 0, 0};
  *(struct tracewell_frame_record*)data_at(number, ring_bytes, at) = nothing;
  __atomic_store_n(commit_word(number, ring_bytes, at),
                   (uint32_t)((ring_bytes - at) / TRACEWELL_CELL), __ATOMIC_RELEASE);
}

static void count_lost(struct tracewell_frame_ring* ring, int is_shared) {
  if (is_shared)
    __atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
  else
    __asm__ volatile("incq %0" : "+m"(ring->lost));
}

struct Reserved reserve(uint64_t bytes, uint32_t patience) {
  const struct Ring found = ring_of_thread();
  struct tracewell_frame_ring* const ring = geometry.rings + found.number;
  struct Reserved out = {ring, 0, 0, 0, found.tid, found.is_shared};
  const uint64_t size = geometry.ring_bytes, mask = size - 1;
  const uint64_t far = size / 4 < TRACEWELL_REWIND_MIN ? size / 4 : TRACEWELL_REWIND_MIN;
  uint64_t head, at, gap, waited = 0;
  for (;;) {
    /* In this order, whatever a signal's handler, another thread or the reader does in between: a
     * head from before would make a ring look empty, or full, that is not. */
    const uint64_t origin = __atomic_load_n(&ring->origin, __ATOMIC_ACQUIRE);
    const uint64_t read = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    uint64_t tail = read;
    if (origin > tail && origin <= head) tail = origin;
    out.head = head;
    if (UNLIKELY(head == tail) && (head & mask) >= far && !found.is_shared) {
      out.head = tail = (head | mask) + 1;
      if (!exchange_if(&ring->origin, origin, tail)) continue;
    }
    at = place_in_ring(out.head, size);
    gap = at + bytes > size ? size - at : 0;
    if (UNLIKELY(out.head + gap + bytes - tail > size)) {
      if (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) != read ||
          __atomic_load_n(&ring->origin, __ATOMIC_RELAXED) != origin)
        continue; /* it may have room by now */
      if (patience != 0 && wait_for_room(ring, patience, &waited)) continue;
      if (!is_read()) return out;
      count_lost(ring, found.is_shared);
      return out;
    }
    if (LIKELY(move_head(ring, head, out.head + gap + bytes, found.is_shared))) break;
  }
  if (gap != 0) {
    fill_gap(found.number, size, at);
    out.head += gap;
    at = 0;
  }
  out.commit = commit_word(found.number, size, at);
  out.data = data_at(found.number, size, at);
  __atomic_store_n(out.commit, (uint32_t)(bytes / TRACEWELL_CELL) | TRACEWELL_RECORD_OPEN,
                   __ATOMIC_RELEASE);
  return out;
}
