/* What the collector asks the kernel and the processor. */
#ifndef TRACEWELL_INPROC_COLLECT_SYSTEM_H
#define TRACEWELL_INPROC_COLLECT_SYSTEM_H

#include "inproc/collect/shared.h"
#include "ring/hit_calls.h"

static inline long call(enum tracewell_hit_call number, long a, const void* b, long c,
                        const void* d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = (long)d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"((long)number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static inline uint32_t thread_id(void) { return (uint32_t)call(kGetTid, 0, 0, 0, 0, 0, 0); }

/* Behind the instruction at 1, which may fault, and where its thread goes on then. */
#define MAY_FAULT(resume) "\n.pushsection .tw_loads, \"a\"\n.long 1b, " resume "\n.popsection"

/* A thread may have had the counter taken away (prctl, PR_SET_TSC). */
static inline uint64_t ticks_denied(void) {
  __atomic_store_n(&geometry.area->ticks_denied, 1, __ATOMIC_RELAXED);
  return __atomic_load_n(&geometry.area->clock_ticks, __ATOMIC_RELAXED);
}

static inline uint64_t read_ticks(void) {
  uint32_t low, high;
  __asm__ goto("1: rdtsc" MAY_FAULT("%l[denied]") : "=a"(low), "=d"(high) : : : denied);
  return (uint64_t)high << 32 | low;
denied:
  return ticks_denied();
}

#endif
