/* base/freestanding: no libc, no allocation. C and C++.
 *
 * What a traced process writes into its rings at a hit: see ring/frame_ring.h. */
#ifndef TRACEWELL_RING_FRAME_RECORD_H
#define TRACEWELL_RING_FRAME_RECORD_H

#include <stdint.h>

#define TRACEWELL_CELL 32u                       /* bytes; records are whole cells */
#define TRACEWELL_RECORD_MAX 0x40000u            /* bytes */
#define TRACEWELL_NO_PLAN 0xffffffffu            /* of a record that says nothing */

/* What a record begins with; blocks follow. */
struct tracewell_frame_record {
  uint32_t plan;  /* of the tracepoint's location: tracewell_plan.number */
  uint32_t bytes; /* with this */
  uint64_t ticks; /* of the processor's time stamp counter */
  uint32_t tid;
  uint32_t unused;
};

/* Blocks, packed:
 *   'G'  tracewell_general
 *   'X'  uint8_t skip, uint32_t size; `skip` bytes; `size` bytes of XSAVEC
 *   'D'  tracewell_vector_change, and the bytes of parts, one after the other
 *   'M'  uint64_t address, uint16_t size; the bytes      (as in a trace file)
 *   'V'  uint32_t number; int64_t value                  (as in a trace file)
 *   'C', 'E'  of the condition, of the actions:
 *        uint8_t fault, uint64_t address                 tracewell::ax::Fault, the hit's first
 */
struct tracewell_general {
  uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15;
  uint64_t rip, eflags, fs_base, gs_base;
  uint16_t cs, ss, ds, es, fs, gs;
  uint32_t pad;
};

/* What is not as it was in the thread's last record with vector state. */
struct tracewell_vector_change {
  uint32_t parts;      /* as bits: numbers in vector_parts */
  uint32_t bytes;      /* of them all */
  uint32_t base;       /* the generation that they change; 0: they are all that there is */
  uint32_t generation; /* which it becomes */
  uint64_t present;    /* components in use */
};

#ifdef __cplusplus
static_assert(sizeof(tracewell_frame_record) == 24 && sizeof(tracewell_general) == 176);
static_assert(sizeof(tracewell_vector_change) == 24);
#endif
#endif
