/* What sessions choose by hook and by processor (trace -j, -k, -C), and records that say on which
 * processor they were made (-p). A thread may be moved to another one at any moment: what counts is
 * where it was when the hook began. */
#include <sched.h>

#include "inproc/runtime.h"

#define NOWHERE (~(uint32_t)0)

/* Without a system call where the C library has registered restartable sequences, or the kernel's
 * shared object says it. */
static uint32_t processor(void) {
  const int before = errno;
  const int got = sched_getcpu();
  errno = before;
  return got < 0 ? NOWHERE : (uint32_t)got;
}

static int hook_is_wanted(unsigned channel, uint32_t word) {
  const uint32_t id = word >> 16;
  const uint8_t* filter = control_pages() + TRACEWELL_CONTROL_FILTERS - TRACEWELL_HOOK_PAGE +
                          channel * TRACEWELL_FILTER_BYTES;
  return filter[id / 8] >> id % 8 & 1;
}

static int processor_is_wanted(const struct tracewell_channel* channel, uint32_t cpu) {
  if (channel->cpus == 0) return 1;
  return cpu < TRACEWELL_CPUS_MAX && channel->cpu[cpu / 8] >> cpu % 8 & 1;
}

int tracewell_hooks_wanted(unsigned channel, uint32_t word) {
  const struct tracewell_channel* about;
  if (!hook_is_wanted(channel, word)) return 0;
  about = channel_at(channel);
  return about->cpus == 0 || processor_is_wanted(about, processor());
}

/* By one look at the processor: what passes is recorded as what has passed. */
static int begin_here(unsigned channel, uint32_t state, uint32_t word, uint32_t cpu,
                      struct tracewell_record* record) {
  if (state & TRACEWELL_STATE_FILTERED &&
      !(hook_is_wanted(channel, word) && processor_is_wanted(channel_at(channel), cpu)))
    return 0;
  return tracewell_begin(channel, state, word, record);
}

void tracewell_hooks_words_here(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                unsigned count, unsigned long d1, unsigned long d2,
                                unsigned long d3, unsigned long d4, unsigned long d5) {
  const unsigned long words[TRACEWELL_HOOK_WORDS_MAX] = {d1, d2, d3, d4, d5};
  const uint32_t cpu = processor();
  struct tracewell_record record;
  unsigned i;
  record.bytes = TRACEWELL_RECORD_HEAD + count * (uint32_t)sizeof(long) + 4;
  if (!begin_here(channel, state, word, cpu, &record)) return;
  tracewell_store_32(record.at + 8, word);
  for (i = 0; i < count; ++i)
    tracewell_store_word(record.at + TRACEWELL_RECORD_HEAD + i * sizeof(long), words[i]);
  tracewell_store_32(record.at + record.bytes - 4, cpu);
  tracewell_commit(&record, TRACEWELL_RECORD_WORDS + count, flags | TRACEWELL_RECORD_CPU);
}

void tracewell_hooks_data_here(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                               unsigned long d1, size_t length, const void* bytes) {
  const uint32_t head = TRACEWELL_RECORD_HEAD + (uint32_t)sizeof(long) + 2;
  const uint32_t cpu = processor();
  struct tracewell_record record;
  uint16_t stored;
  if (length > TRACEWELL_HOOK_DATA_MAX) length = TRACEWELL_HOOK_DATA_MAX;
  stored = (uint16_t)length;
  record.bytes = ((head + (uint32_t)length + 3) & ~3u) + 4;
  if (!begin_here(channel, state, word, cpu, &record)) return;
  tracewell_store_32(record.at + 8, word);
  tracewell_store_word(record.at + TRACEWELL_RECORD_HEAD, d1);
  __builtin_memcpy(record.at + head - 2, &stored, 2);
  if (length) __builtin_memcpy(record.at + head, bytes, length);
  tracewell_store_32(record.at + record.bytes - 4, cpu);
  tracewell_commit(&record, TRACEWELL_RECORD_GENERIC, flags | TRACEWELL_RECORD_CPU);
}
