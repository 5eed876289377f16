/* The collector: what runs inside a traced process at a hit, called by the code of its pad, on the
 * stack of the thread that hit. It is one position-independent piece of code without data of its
 * own: no libc, no thread-local memory, no lock, no allocation; a system call only at a thread's
 * first hit, and where the tracer wants memory to be read by one or lets threads wait for room with
 * one. Vector state is as it was at the end: vectors.c.
 *
 * A signal may arrive at any instruction, and its handler may hit tracepoints as well, which then
 * collect in between: see ring/frame_ring.h. So what changes a ring's `head` is one instruction. It
 * has no lock prefix where no other thread changes it. */
#include "inproc/collect/reads.h"
#include "inproc/collect/rings.h"
#include "inproc/collect/shared.h"

enum { kMemoryAccess = 9, kNotRecorded = 18, kPrintFailed = 19 }; /* tracewell::ax::Fault */

/* --- blocks ----------------------------------------------------------------------------------- */

static struct tracewell_hit* hit_of(struct tracewell_native_context* context) {
  return (struct tracewell_hit*)context; /* its first member */
}

static void note_fault(struct tracewell_hit* hit, uint32_t fault, uint64_t address) {
  if (hit->fault != 0) return;
  hit->fault = fault;
  hit->fault_address = address;
}

enum { kFaultBlock = 10 };
enum { kMemoryHead = 11, kMemoryMax = 0xffff };
enum { kLost = 1 }; /* of a record's length, which is more */
enum { kArithmetic = 0x8d5, kOverflowBit = 11, kTrapFlag = 0x100 };

static inline uint8_t* put_memory_head(uint8_t* to, uint64_t address, uint64_t bytes) {
  *to = 'M';
  store(to + 1, address, 8);
  store(to + 9, bytes, 2);
  return to + kMemoryHead;
}

/* In blocks of at most 65535 bytes. Of memory that cannot be read, what stands before that. */
static int add_memory(struct tracewell_hit* hit, uint64_t address, uint64_t bytes) {
  while (bytes != 0) {
    const uint64_t now = bytes < kMemoryMax ? bytes : kMemoryMax;
    if (!has_room(hit, kMemoryHead + now)) return 0;
    uint8_t* const head = hit->at;
    const uint64_t got = copy(head + kMemoryHead, address, now);
    if (LIKELY(got != 0)) hit->at = put_memory_head(head, address, got) + got;
    if (UNLIKELY(got != now)) {
      note_fault(hit, kMemoryAccess, address + got);
      return 0;
    }
    address += now;
    bytes -= now;
  }
  return 1;
}

/* The arithmetic ones were kept before ours changed them; the trap flag is the tracer's. */
static inline uint64_t flags_of(const struct tracewell_hit* hit) {
  const uint64_t kept = hit->arithmetic_flags;
  return (hit->eflags & ~(uint64_t)(kArithmetic | kTrapFlag)) | (kept >> 8 & 0xff) |
         (kept & 1) << kOverflowBit;
}

static void add_general(struct tracewell_hit* hit) {
  if (!has_room(hit, 1 + sizeof(struct tracewell_general))) return;
  struct tracewell_general* const out = (struct tracewell_general*)(hit->at + 1);
  *hit->at = 'G';
  hit->at += 1 + sizeof *out;
  const uint64_t* const from = hit->registers;
  out->rax = from[0];
  out->rcx = from[1];
  out->rdx = from[2];
  out->rbx = from[3];
  out->rsp = from[4];
  out->rbp = from[5];
  out->rsi = from[6];
  out->rdi = from[7];
  out->r8 = from[8];
  out->r9 = from[9];
  out->r10 = from[10];
  out->r11 = from[11];
  out->r12 = from[12];
  out->r13 = from[13];
  out->r14 = from[14];
  out->r15 = from[15];
  out->rip = hit->plan->pc;
  out->eflags = flags_of(hit);
  __asm__("rdfsbase %0" : "=r"(out->fs_base));
  __asm__("rdgsbase %0" : "=r"(out->gs_base));
  __asm__("mov %%cs, %0" : "=m"(out->cs));
  __asm__("mov %%ss, %0" : "=m"(out->ss));
  __asm__("mov %%ds, %0" : "=m"(out->ds));
  __asm__("mov %%es, %0" : "=m"(out->es));
  __asm__("mov %%fs, %0" : "=m"(out->fs));
  __asm__("mov %%gs, %0" : "=m"(out->gs));
  out->pad = 0;
}

/* --- what expressions ask for ----------------------------------------------------------------- */

ENTRY int tw_trace_memory(struct tracewell_native_context* context, uint64_t address,
                          uint64_t size) {
  return add_memory(hit_of(context), address, size);
}

ENTRY int tw_trace_string(struct tracewell_native_context* context, uint64_t address,
                          uint64_t max) {
  struct tracewell_hit* const hit = hit_of(context);
  uint64_t room = (uint64_t)(hit->end - hit->at);
  if (!has_room(hit, kMemoryHead + 1)) return 0;
  room -= kMemoryHead;
  uint64_t wanted = max < kMemoryMax ? max : kMemoryMax;
  if (wanted > room) wanted = room;
  uint8_t* const to = hit->at + kMemoryHead;
  const uint64_t got = copy_text(to, address, wanted);
  const int whole = got != 0 && to[got - 1] == 0;
  if (got != 0) hit->at = put_memory_head(hit->at, address, got) + got;
  if (whole || got == max) return 1;
  if (got == wanted) {
    hit->overflowed = 1;
    return 0;
  }
  note_fault(hit, kMemoryAccess, address + got);
  return 0;
}

ENTRY int tw_trace_variable(struct tracewell_native_context* context, uint64_t number,
                            uint64_t value) {
  struct tracewell_hit* const hit = hit_of(context);
  if (!has_room(hit, 13)) return 0;
  hit->at[0] = 'V';
  store(hit->at + 1, number, 4);
  store(hit->at + 5, value, 8);
  hit->at += 13;
  return 1;
}

static uint64_t unix_microseconds(void) {
  struct tracewell_area* const area = geometry.area;
  uint64_t sequence, ticks, time, rate;
  int tries = 0;
  do {
    sequence = __atomic_load_n(&area->clock_sequence, __ATOMIC_ACQUIRE);
    ticks = __atomic_load_n(&area->clock_ticks, __ATOMIC_RELAXED);
    time = __atomic_load_n(&area->clock_us, __ATOMIC_RELAXED);
    rate = __atomic_load_n(&area->clock_rate, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (((sequence & 1) || sequence != __atomic_load_n(&area->clock_sequence,
                                                          __ATOMIC_RELAXED)) &&
           ++tries < 1000); /* a tracer that is killed may leave it odd */
  const int64_t since = (int64_t)(read_ticks() - ticks);
  return time + (uint64_t)((__int128)since * (int64_t)rate >> 32);
}

static uint32_t processor_now(void) {
  uint32_t processor;
  __asm__ goto("1: rdtscp" MAY_FAULT("%l[denied]") : "=c"(processor) : : "rax", "rdx" : denied);
  return processor & 0xfff; /* the node is above it */
denied:
  (void)ticks_denied();
  call(kGetCpu, (long)&processor, 0, 0, 0, 0, 0);
  return processor;
}

/* Of the variables that are no cells: tracewell::agent::Variables. */
ENTRY uint64_t tw_get_variable(struct tracewell_native_context* context, uint64_t number) {
  const struct tracewell_area* const area = geometry.area;
  (void)context;
  if (number == area->timestamp_number) return unix_microseconds();
  if (number == area->thread_number) {
    return number_of_thread();
  }
  if (number == area->processor_number) {
    return processor_now();
  }
  return 0;
}

ENTRY int tw_read_memory(struct tracewell_native_context* context, uint64_t address, void* to,
                         uint64_t size) {
  uint64_t value = 0;
  const uint64_t got = copy(&value, address, size);
  if (got != size) {
    context->fault_address = address + got;
    return 0;
  }
  for (uint64_t i = 0; i < size && i < sizeof value; ++i) ((uint8_t*)to)[i] = ((uint8_t*)&value)[i];
  return 1;
}

ENTRY int tw_print(struct tracewell_native_context* context, uint64_t function, uint64_t channel,
                   const char* format, const uint64_t* arguments, uint64_t count) {
  (void)context, (void)function, (void)channel, (void)format, (void)arguments, (void)count;
  return 0;
}

/* --- a hit ------------------------------------------------------------------------------------ */

typedef struct tracewell_native_outcome Expression(struct tracewell_native_context*);

static void note_outcome(struct tracewell_hit* hit, uint64_t status) {
  const uint32_t fault = status & TRACEWELL_NATIVE_FAULT_MASK;
  if (fault != 0) note_fault(hit, fault, fault == kMemoryAccess ? hit->context.fault_address : 0);
}

static uint64_t value_of(const struct tracewell_hit* hit, uint32_t general) {
  if (general < 16) return hit->registers[general];
  return general == TRACEWELL_REGISTER_RIP ? hit->plan->pc : 0;
}

/* What add_vector() has returned, or NULL. */
static struct tracewell_vectors* run(struct tracewell_hit* hit, const struct Reserved* place,
                                     uint64_t reserved) {
  const struct tracewell_hit_plan* const plan = hit->plan;
  struct tracewell_vectors* vectors = 0;
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    const struct tracewell_step* const step = &plan->steps[i];
    switch (step->kind) {
      case TRACEWELL_STEP_GENERAL: add_general(hit); break;
      case TRACEWELL_STEP_VECTOR: {
        struct tracewell_vectors* const begun = add_vector(hit, place, reserved, step);
        if (begun) vectors = begun;
        break;
      }
      case TRACEWELL_STEP_MEMORY:
        add_memory(hit, value_of(hit, step->base) + step->value, step->bytes);
        break;
      default: note_outcome(hit, ((Expression*)step->value)(&hit->context).status);
    }
  }
  return vectors;
}

/* The record of a hit with a fault was not made for that: behind its end comes a larger one, with
 * all of it and the fault. 0: there is no room, and the hit is counted as lost. */
static NOINLINE int add_fault(struct tracewell_hit* hit, struct Reserved* place,
                               uint64_t* reserved) {
  uint64_t used = (uint64_t)(hit->at - place->data);
  if (used + kFaultBlock > *reserved) {
    const uint64_t wanted = whole_cells(used + kFaultBlock);
    const struct Reserved larger = reserve(wanted, 0);
    if (!larger.data) return 0;
    for (uint64_t i = 0; i < used; ++i) larger.data[i] = place->data[i];
    const struct tracewell_frame_record nothing = {TRACEWELL_NO_PLAN, sizeof nothing, 0, 0, 0};
    *(struct tracewell_frame_record*)place->data = nothing;
    commit(place, *reserved, sizeof nothing);
    *place = larger;
    *reserved = wanted;
  }
  uint8_t* const at = place->data + used;
  at[0] = hit->condition_status != 0 ? 'C' : 'E';
  at[1] = (uint8_t)hit->fault;
  store(at + 2, hit->fault_address, 8);
  hit->at = at + kFaultBlock;
  return 1;
}

/* What the hit has to say, behind the record's head. How long the record is with it; 0: it is too
 * large for what was reserved; kLost. `vectors`: as run() returns it. */
static ALWAYS_INLINE uint64_t fill(struct tracewell_hit* hit, struct Reserved* place,
                                   uint64_t* reserved, struct tracewell_vectors** vectors) {
  hit->at = place->data + sizeof(struct tracewell_frame_record);
  hit->end = place->data + *reserved;
  hit->fault = hit->overflowed = 0;
  if (UNLIKELY(hit->condition_status != 0))
    note_outcome(hit, hit->condition_status);
  else
    *vectors = run(hit, place, *reserved);
  const int is_lost = UNLIKELY(hit->fault != 0) && !add_fault(hit, place, reserved);
  if (LIKELY(!hit->overflowed && !is_lost)) return (uint64_t)(hit->at - place->data);
  forget_vectors(place);
  return is_lost ? kLost : 0;
}

static ALWAYS_INLINE void write_head(const struct tracewell_hit_plan* plan, uint8_t* record,
                                     uint64_t bytes, uint64_t ticks, uint32_t tid) {
  struct tracewell_frame_record* const head = (struct tracewell_frame_record*)record;
  head->plan = plan->number;
  head->bytes = (uint32_t)bytes;
  head->ticks = ticks;
  head->tid = tid;
}

/* Where there is more to say than that it was hit. */
static NOINLINE void collect_steps(struct tracewell_hit* hit, struct Reserved place,
                                   uint64_t ticks) {
  const struct tracewell_hit_plan* const plan = hit->plan;
  uint64_t reserved = plan->record_bytes;
  struct tracewell_vectors* vectors = 0;
  const uint64_t used = fill(hit, &place, &reserved, &vectors);
  const uint64_t head = sizeof(struct tracewell_frame_record);
  write_head(plan, place.data, used == kLost ? head : used, ticks, place.tid);
  if (used == kLost) ((struct tracewell_frame_record*)place.data)->plan = TRACEWELL_NO_PLAN;
  commit(&place, reserved, used != 0 && used != kLost ? used : head);
  if (vectors) end_vector(vectors);
}

/* plan->fill() without what a call of a function costs its caller. */
static ALWAYS_INLINE uint64_t fill_quickly(struct tracewell_hit* hit, uint8_t* to) {
  uint64_t bytes;
  __asm__ volatile("call *%1" : "=a"(bytes) : "r"(hit->plan->fill), "D"(hit), "S"(to)
                   : "rcx", "memory", "cc");
  return bytes;
}

static ALWAYS_INLINE void collect(struct tracewell_hit* hit, struct Reserved place) {
  const struct tracewell_hit_plan* const plan = hit->plan;
  const uint64_t ticks = read_ticks();
  uint64_t used = sizeof(struct tracewell_frame_record);
  if ((plan->step_count | hit->condition_status) != 0) {
    const uint64_t bytes = plan->fill && hit->condition_status == 0
                               ? fill_quickly(hit, place.data + used)
                               : 0;
    if (UNLIKELY(bytes == 0)) return collect_steps(hit, place, ticks);
    used += bytes;
  }
  write_head(plan, place.data, used, ticks, place.tid);
  commit(&place, plan->record_bytes, used);
}

static NOINLINE void collect_slowly(struct tracewell_hit* hit) {
  const struct tracewell_hit_plan* const plan = hit->plan;
  const struct Reserved place = reserve(plan->record_bytes, plan->patience);
  if (place.data) collect(hit, place);
}

/* What mostly happens, without any other function's needs; the rest is collect_slowly()'s. */
ENTRY void tw_collect(struct tracewell_hit* hit) {
  const struct tracewell_hit_plan* const plan = hit->plan;
  if (UNLIKELY(!is_read())) return;
  if (UNLIKELY(kind_of_keys() != TRACEWELL_KEYS_SELF)) return collect_slowly(hit);
  const uint64_t key = word_at_fs();
  const struct tracewell_thread* const thread =
      geometry.threads + tracewell_thread_at(key, geometry.thread_mask);
  if (UNLIKELY(__atomic_load_n(&thread->key, __ATOMIC_RELAXED) != key || key == 0))
    return collect_slowly(hit);
  /* Of no ring yet, and of one that is shared, it is not less. */
  const uint32_t number = __atomic_load_n(&thread->place, __ATOMIC_RELAXED) - 1;
  if (UNLIKELY(number >= geometry.ring_count)) return collect_slowly(hit);
  struct tracewell_frame_ring* const ring = geometry.rings + number;
  const uint64_t bytes = plan->record_bytes, ring_bytes = geometry.ring_bytes;
  const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
  const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
  const uint64_t at = place_in_ring(head, ring_bytes);
  /* After it has begun anew, a ring is slow until the reader has been there. */
  if (UNLIKELY(head == tail || head + bytes - tail > ring_bytes || at + bytes > ring_bytes))
    return collect_slowly(hit);
  if (UNLIKELY(!exchange_if(&ring->head, head, head + bytes))) return collect_slowly(hit);
  const struct Reserved place = {ring, commit_word(number, ring_bytes, at),
                                 data_at(number, ring_bytes, at), head,
                                 __atomic_load_n(&thread->tid, __ATOMIC_RELAXED), 0};
  __atomic_store_n(place.commit, (uint32_t)(bytes / TRACEWELL_CELL) | TRACEWELL_RECORD_OPEN,
                   __ATOMIC_RELEASE);
  collect(hit, place);
}
