/* Registers of vector state against what XSAVEC has stored of them before. XSAVEC itself takes some
 * 40 ns, whatever it has to store; to look at thirty-two registers takes a tenth of that.
 *
 * Some have to serve as room to compare in. They are as they were at the end, and what is used for
 * that is never more than what is in use: who writes the upper half of a register with zeros only
 * may have made the whole component one that is in use. For the same reason no mask registers are
 * used. `scratch`: 128 bytes. Each returns whether there is a difference. */
#ifndef TRACEWELL_INPROC_COLLECT_VECTOR_REGISTERS_H
#define TRACEWELL_INPROC_COLLECT_VECTOR_REGISTERS_H

#include "inproc/collect/collect.h"

enum { kSse = 2, kAvx = 4, kOpmask = 0x20, kZmmHigh = 0x40, kHigh16 = 0x80, kPkru = 0x200 };
enum { kMxcsrAt = 24 };

static inline uint64_t words_differ(const uint8_t* a, const uint8_t* b, unsigned words) {
  uint64_t out = 0;
  for (unsigned i = 0; i < words; ++i) out |= ((const uint64_t*)a)[i] ^ ((const uint64_t*)b)[i];
  return out;
}

static inline uint64_t words_set(const uint8_t* words, unsigned count) {
  uint64_t out = 0;
  for (unsigned i = 0; i < count; ++i) out |= ((const uint64_t*)words)[i];
  return out;
}

static inline int mxcsr_differs(const uint8_t* last) {
  uint32_t now;
  __asm__ volatile("stmxcsr %0" : "=m"(now));
  return now != *(const uint32_t*)last;
}

/* XMM0 to XMM15. */
static inline int sse_differs(const uint8_t* last, uint8_t* scratch) {
#define TW_SSE(number) \
  "movdqu 16*" #number "(%0), %%xmm14\n pxor %%xmm" #number ", %%xmm14\n por %%xmm14, %%xmm15\n"
  __asm__ volatile(
      "movdqu %%xmm14, (%1)\n movdqu %%xmm15, 16(%1)\n"
      "pxor %%xmm15, %%xmm15\n" TW_SSE(0) TW_SSE(1) TW_SSE(2) TW_SSE(3) TW_SSE(4) TW_SSE(5)
          TW_SSE(6) TW_SSE(7) TW_SSE(8) TW_SSE(9) TW_SSE(10) TW_SSE(11) TW_SSE(12) TW_SSE(13)
      "movdqu %%xmm15, 32(%1)\n movdqu (%1), %%xmm14\n movdqu 16(%1), %%xmm15\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_SSE
  return (words_set(scratch + 32, 2) | words_differ(scratch, last + 14 * 16, 4)) != 0;
}

/* The upper halves of YMM0 to YMM15. */
static inline int avx_differs(const uint8_t* last, uint8_t* scratch) {
#define TW_AVX(number)                                              \
  "vextractf128 $1, %%ymm" #number ", %%xmm14\n"                    \
  "vxorps 16*" #number "(%0), %%xmm14, %%xmm14\n vorps %%xmm14, %%xmm15, %%xmm15\n"
  __asm__ volatile(
      "vmovups %%ymm14, (%1)\n vmovups %%ymm15, 32(%1)\n"
      "vxorps %%xmm15, %%xmm15, %%xmm15\n" TW_AVX(0) TW_AVX(1) TW_AVX(2) TW_AVX(3) TW_AVX(4)
          TW_AVX(5) TW_AVX(6) TW_AVX(7) TW_AVX(8) TW_AVX(9) TW_AVX(10) TW_AVX(11) TW_AVX(12)
              TW_AVX(13)
      "vmovups %%xmm15, 64(%1)\n vmovups (%1), %%ymm14\n vmovups 32(%1), %%ymm15\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_AVX
  return (words_set(scratch + 64, 2) | words_differ(scratch + 16, last + 14 * 16, 2) |
          words_differ(scratch + 48, last + 15 * 16, 2)) != 0;
}

static inline int opmask_differs(const uint8_t* last) {
  uint64_t out = 0, now;
#define TW_MASK(number)                                             \
  __asm__ volatile("kmovq %%k" #number ", %0" : "=r"(now)); \
  out |= now ^ ((const uint64_t*)last)[number];
  TW_MASK(0) TW_MASK(1) TW_MASK(2) TW_MASK(3) TW_MASK(4) TW_MASK(5) TW_MASK(6) TW_MASK(7)
#undef TW_MASK
  return out != 0;
}

/* ZMM16 to ZMM31. Each: difference | (register ^ what was stored). */
static inline int high16_differs(const uint8_t* last, uint8_t* scratch) {
#define TW_HIGH16(number) \
  "vpternlogq $0xf6, 64*" #number "-1024(%0), %%zmm" #number ", %%zmm31\n"
  __asm__ volatile(
      "vmovdqu64 %%zmm31, (%1)\n"
      "vpxorq (%0), %%zmm16, %%zmm31\n" TW_HIGH16(17) TW_HIGH16(18) TW_HIGH16(19) TW_HIGH16(20)
          TW_HIGH16(21) TW_HIGH16(22) TW_HIGH16(23) TW_HIGH16(24) TW_HIGH16(25) TW_HIGH16(26)
              TW_HIGH16(27) TW_HIGH16(28) TW_HIGH16(29) TW_HIGH16(30)
      "vmovdqu64 %%zmm31, 64(%1)\n vmovdqu64 (%1), %%zmm31\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_HIGH16
  return (words_set(scratch + 64, 8) | words_differ(scratch, last + 15 * 64, 8)) != 0;
}

static inline int pkru_differs(const uint8_t* last) {
  uint32_t now, zero;
  __asm__ volatile("rdpkru" : "=a"(now), "=d"(zero) : "c"(0));
  return now != *(const uint32_t*)last;
}

/* Of a component in tracewell_area.vectors_direct, which is in use. */
static inline int is_not_in_registers(const struct tracewell_vector_part* part,
                                      const uint8_t* last, uint8_t* scratch) {
  switch (part->component) {
    case kSse:
      return part->offset == kMxcsrAt ? mxcsr_differs(last) : sse_differs(last, scratch);
    case kAvx: return avx_differs(last, scratch);
    case kOpmask: return opmask_differs(last);
    case kHigh16: return high16_differs(last, scratch);
    case kPkru: return pkru_differs(last);
    default: return 1;
  }
}

#endif
