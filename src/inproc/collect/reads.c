/* Reads of memory where a fault would do harm: by loads where the tracer knows that they do not
 * fault (ring/readable_ranges.h), else by system calls. What has been unmapped since the tracer has
 * looked faults all the same, and is mended by it. */
#include "inproc/collect/reads.h"

#include "inproc/collect/rings.h"
#include "ring/readable_ranges.h"

enum { kPage = 4096 };

static uint64_t read_by_call(uint8_t* to, uint64_t from, uint64_t bytes) {
  struct {
    const void* base;
    uint64_t bytes;
  } mine = {to, bytes}, its = {(const void*)from, bytes};
  /* By the thread's own number: that of a process has no memory once its first thread has ended. */
  const long self = (long)thread_id();
  /* One page at a time: a range that cannot be read as a whole is not read at all. */
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t to_page = kPage - ((from + done) & (kPage - 1));
    mine.base = to + done;
    its.base = (const void*)(from + done);
    mine.bytes = its.bytes = to_page < bytes - done ? to_page : bytes - done;
    if (call(kProcessVmReadv, self, &mine, 1, &its, 1, 0) != (long)its.bytes)
      break;
    done += its.bytes;
  }
  return done;
}

/* The number of the range that holds it, of TRACEWELL_RANGES_MAX; that is none. Whatever stands
 * there, it comes to an end. */
static NOINLINE uint32_t search_range(const struct tracewell_ranges* known, uint64_t address) {
  uint32_t from = 0, to = __atomic_load_n(&known->count, __ATOMIC_RELAXED);
  if (to > TRACEWELL_RANGES_MAX) to = TRACEWELL_RANGES_MAX;
  while (from < to) {
    const uint32_t middle = (from + to) / 2;
    if (address >= __atomic_load_n(&known->ranges[middle].end, __ATOMIC_RELAXED))
      from = middle + 1;
    else
      to = middle;
  }
  if (from < TRACEWELL_RANGES_MAX &&
      address >= __atomic_load_n(&known->ranges[from].start, __ATOMIC_RELAXED) &&
      address < __atomic_load_n(&known->ranges[from].end, __ATOMIC_RELAXED))
    return from;
  return TRACEWELL_RANGES_MAX;
}

/* Once for all threads, mostly. A handler of signals that comes in between, and who does the same
 * at the same time, leave it to the first: theirs is as new. */
static NOINLINE void ask_for_handlers(struct tracewell_ranges* known) {
  enum { kSegv = 11, kBus = 7, kSetBytes = 8 };
  struct tracewell_fault_actions* const kept = geometry.fault_actions;
  struct tracewell_fault_action now[2];
  if (__atomic_exchange_n(&known->asks, 0, __ATOMIC_RELAXED) == 0 || !kept) return;
  if (call(kSigAction, kSegv, 0, (long)&now[0], (const void*)kSetBytes, 0, 0) != 0 ||
      call(kSigAction, kBus, 0, (long)&now[1], (const void*)kSetBytes, 0, 0) != 0)
    return;
  uint64_t sequence = __atomic_load_n(&kept->sequence, __ATOMIC_RELAXED);
  if ((sequence & 1) != 0 ||
      !__atomic_compare_exchange_n(&kept->sequence, &sequence, sequence + 1, 0, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED))
    return;
  kept->actions[0] = now[0];
  kept->actions[1] = now[1];
  __atomic_store_n(&kept->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* How many bytes may be loaded from there on. Not once the tracer is gone, who would mend it. */
static ALWAYS_INLINE uint64_t loadable(uint64_t address) {
  struct tracewell_ranges* const known = geometry.ranges;
  if (UNLIKELY(__atomic_load_n(&known->asks, __ATOMIC_RELAXED) != 0)) ask_for_handlers(known);
  const uint64_t sequence = __atomic_load_n(&known->sequence, __ATOMIC_ACQUIRE);
  uint16_t* const hint = &known->hints[tracewell_hint_at(address)];
  uint32_t at = __atomic_load_n(hint, __ATOMIC_RELAXED) % TRACEWELL_RANGES_MAX;
  uint64_t start = __atomic_load_n(&known->ranges[at].start, __ATOMIC_RELAXED);
  uint64_t end = __atomic_load_n(&known->ranges[at].end, __ATOMIC_RELAXED);
  if (UNLIKELY(address < start || address >= end)) {
    at = search_range(known, address);
    if (at == TRACEWELL_RANGES_MAX) return 0;
    end = __atomic_load_n(&known->ranges[at].end, __ATOMIC_RELAXED);
    __atomic_store_n(hint, (uint16_t)at, __ATOMIC_RELAXED);
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (UNLIKELY((sequence & 1) != 0 ||
               __atomic_load_n(&known->sequence, __ATOMIC_RELAXED) != sequence || !is_read()))
    return 0;
  return end > address ? end - address : 0;
}

/* The tracer is to look again: there is more than it knows. */
static void want_look(void) {
  uint32_t* const wanted = &geometry.ranges->wanted;
  if (__atomic_load_n(wanted, __ATOMIC_RELAXED) == 0)
    __atomic_store_n(wanted, 1, __ATOMIC_RELAXED);
}

uint64_t copy_carefully(uint8_t* to, uint64_t from, uint64_t bytes) {
  uint64_t done = 0;
  if (LIKELY(kind_of_reads() == TRACEWELL_READS_KNOWN)) {
    const uint64_t room = loadable(from);
    done = copy_known_loads(to, from, room < bytes ? room : bytes);
    if (LIKELY(done == bytes)) return done;
  }
  const uint64_t called = read_by_call(to + done, from + done, bytes - done);
  if (called != 0) want_look();
  return done + called;
}

uint64_t copy_text_carefully(uint8_t* to, uint64_t from, uint64_t max) {
  uint64_t done = 0;
  if (LIKELY(kind_of_reads() == TRACEWELL_READS_KNOWN)) {
    const uint64_t room = loadable(from);
    done = copy_text_loads(to, from, room < max ? room : max);
    if (LIKELY(done == max || (done != 0 && to[done - 1] == 0))) return done;
  }
  /* As far as a page goes, and then looked at: a call for each letter takes a microsecond. */
  while (done < max) {
    const uint64_t to_page = kPage - ((from + done) & (kPage - 1));
    const uint64_t now = to_page < max - done ? to_page : max - done;
    const uint64_t got = read_by_call(to + done, from + done, now);
    if (got != 0) want_look();
    for (const uint64_t end = done + got; done < end;)
      if (to[done++] == 0) return done;
    if (got != now) break;
  }
  return done;
}
