/* What the code that a pad calls at a hit (axjit/hit_body.h), the collector that this calls in turn
 * (inproc/collect), and the tracer who makes the plans agree on. C and C++. All of it is x86-64. */
#ifndef TRACEWELL_AX_HIT_H
#define TRACEWELL_AX_HIT_H

#include "ax/native.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tracewell_hit;

/* What is done at a hit, in order. */
struct tracewell_step {
  uint32_t kind; /* TRACEWELL_STEP_… */
  /* MEMORY: number of the general register, as instructions number them, whose value is added to
   * `value`; TRACEWELL_NO_REGISTER = none. */
  uint32_t base;
  /* MEMORY: the address. VECTOR: components, as XSAVE numbers them. EXPRESSION: address of its
   * code. */
  uint64_t value;
  uint64_t bytes; /* MEMORY: how many; VECTOR: of the area, at most */
};

#define TRACEWELL_STEP_GENERAL 0u
#define TRACEWELL_STEP_VECTOR 1u
#define TRACEWELL_STEP_MEMORY 2u
#define TRACEWELL_STEP_EXPRESSION 3u
#define TRACEWELL_NO_REGISTER 16u
#define TRACEWELL_REGISTER_RIP 17u

/* What of tracewell_area.reader says that there is one: a thread's number. The rest is the kernel's
 * (futex(2), FUTEX_TID_MASK). */
#define TRACEWELL_READER 0x3fffffffu

/* Of one location of a tracepoint. The process only reads it. */
struct tracewell_hit_plan {
  const struct tracewell_native_calls* calls;
  uint32_t number;
  uint32_t record_bytes; /* what a record without a fault takes at most, a multiple of a cell */
  uint32_t step_count;
  /* How long a thread waits for room in a full ring: so many times 2^20 ticks of the time stamp
   * counter, some 0.4 ms on processors of today. */
  uint32_t patience;
  uint64_t pc; /* of the program */
  /* Code that does all the steps at once, and returns how many bytes of blocks they have made; or
   * 0: it could not or may not, and they are to be done one by one. Changes rax, rcx and flags
   * only. NULL: there is none. */
  uint64_t (*fill)(struct tracewell_hit* hit, uint8_t* blocks);
  struct tracewell_step steps[];
};

/* On the program's stack, below its red zone, from the pad's first instruction to its last. */
struct tracewell_hit {
  struct tracewell_native_context context;
  uint64_t registers[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 … r15, as the program has them */
  uint64_t rip;
  uint64_t eflags;
  uint64_t arithmetic_flags; /* the body's own: what lahf and seto gave, in bits 8-15 and 0 */
  const struct tracewell_hit_plan* plan;
  /* The condition's, when it ended with a fault; then nothing but that is recorded. */
  uint64_t condition_status;
  /* The collector's own. */
  uint8_t* at;         /* in the record, behind what it has */
  uint8_t* end;        /* of its room */
  uint64_t fault_address;
  uint32_t fault;      /* tracewell::ax::Fault; the first */
  uint32_t overflowed; /* 1: the record did not fit its room */
};

/* The collector's beginning; offsets are from there. It is mapped as one piece, to be read and
 * executed, at any address. */
struct tracewell_collector {
  uint64_t magic;
  uint32_t bytes;
  uint32_t collect;       /* void (struct tracewell_hit*); changes no vector state */
  uint32_t trace_memory;  /* these are of tracewell_native_calls */
  uint32_t trace_string;
  uint32_t trace_variable;
  uint32_t get_variable;
  uint32_t read_memory;
  uint32_t print;
  /* Loads that may fault, and where their threads go on then, as of compiled expressions. */
  uint32_t loads;         /* of struct tracewell_faulting_load */
  uint32_t load_count;
  uint32_t geometry;      /* room for a struct tracewell_geometry, which the tracer puts there */
};

struct tracewell_faulting_load {
  uint32_t load, resume; /* offsets */
};

/* Bytes of stack that it takes at most, with what expressions call of it. */
#define TRACEWELL_COLLECTOR_STACK 832u

#define TRACEWELL_COLLECTOR_MAGIC 0x3130636c6f635754u /* "TWcolc01" */

#ifdef __cplusplus
}
static_assert(sizeof(tracewell_step) == 24 && sizeof(tracewell_hit_plan) == 40);
static_assert(sizeof(tracewell_hit) == 24 + 16 * 8 + 4 * 8 + 40);
#endif
#endif
