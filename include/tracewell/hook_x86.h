/* What hooks ask of the processor: part of hooks.h. */
#ifndef TRACEWELL_HOOK_X86_H
#define TRACEWELL_HOOK_X86_H

#include <stdint.h>

#define TRACEWELL_INLINE static __inline__ __attribute__((always_inline, unused))
#define TRACEWELL_BARRIER() __asm__ __volatile__("" ::: "memory")

/* One instruction, so that no signal of this thread comes in between. Other threads never look. */
TRACEWELL_INLINE int tracewell_take(volatile uint64_t* at, uint64_t old, uint64_t now) {
  unsigned char done;
#ifdef __x86_64__
  __asm__ __volatile__("cmpxchgq %3, %1"
                       : "=@ccz"(done), "+m"(*at), "+a"(old)
                       : "r"(now)
                       : "memory");
#else
  __asm__ __volatile__("cmpxchg8b %1"
                       : "=@ccz"(done), "+m"(*at), "+A"(old)
                       : "b"((uint32_t)now), "c"((uint32_t)(now >> 32))
                       : "memory");
#endif
  return done;
}

TRACEWELL_INLINE uint64_t tracewell_ticks(void) {
  uint32_t low, high;
  __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t)high << 32 | low;
}

TRACEWELL_INLINE void tracewell_store_32(uint8_t* at, uint32_t value) {
  *(volatile uint32_t*)(void*)at = value;
}

#endif
