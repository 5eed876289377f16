/* Registers of vector state against what XSAVEC has stored of them before. XSAVEC itself takes some
 * 40 ns, whatever it has to store; to look at thirty-two registers takes a tenth of that.
 *
 * Some have to serve as room to compare in. They are as they were at the end, and what is used for
 * that is never more than what is in use: who writes the upper half of a register with zeros only
 * may have made the whole component one that is in use. For the same reason no mask registers are
 * used. Where ZMM16 to ZMM31 are in use, they are the room for all, and an instruction that takes
 * three operands tells of one register: difference | (register ^ what was stored).
 * `scratch`: 192 bytes. Each returns whether there is a difference. */
#ifndef TRACEWELL_INPROC_COLLECT_VECTOR_REGISTERS_H
#define TRACEWELL_INPROC_COLLECT_VECTOR_REGISTERS_H

#include "inproc/collect/shared.h"

enum { kSse = 2, kAvx = 4, kOpmask = 0x20, kZmmHigh = 0x40, kHigh16 = 0x80, kPkru = 0x200 };
/* Of components, as numbers. */
enum { kAvxNumber = 2, kOpmaskNumber = 5, kHigh16Number = 7, kPkruNumber = 9 };
enum { kMxcsrAt = 24, kXmmAt = 160 };

#define TW_0_TO_13(one) \
  one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11) one(12) \
      one(13)
#define TW_OR_DIFFERENCE "vpternlogq $0xf6, "

static inline uint64_t words_differ(const uint8_t* a, const uint8_t* b, unsigned words) {
  uint64_t out = 0;
#pragma GCC unroll 8
  for (unsigned i = 0; i < words; ++i) out |= ((const uint64_t*)a)[i] ^ ((const uint64_t*)b)[i];
  return out;
}

static inline uint64_t words_set(const uint8_t* words, unsigned count) {
  uint64_t out = 0;
#pragma GCC unroll 8
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
      "pxor %%xmm15, %%xmm15\n" TW_0_TO_13(TW_SSE)
      "movdqu %%xmm15, 32(%1)\n movdqu (%1), %%xmm14\n movdqu 16(%1), %%xmm15\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_SSE
  return (words_set(scratch + 32, 2) | words_differ(scratch, last + 14 * 16, 4)) != 0;
}

/* The same where there is better room. */
static inline int sse_differs_in_high16(const uint8_t* last, uint8_t* scratch) {
#define TW_SSE(number) TW_OR_DIFFERENCE "16*" #number "(%0), %%xmm" #number ", %%xmm31\n"
  __asm__ volatile(
      "vmovdqu64 %%zmm31, (%1)\n"
      "vpxord %%xmm31, %%xmm31, %%xmm31\n" TW_0_TO_13(TW_SSE) TW_SSE(14) TW_SSE(15)
      "vmovdqu64 %%xmm31, 64(%1)\n vmovdqu64 (%1), %%zmm31\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_SSE
  return words_set(scratch + 64, 2) != 0;
}

/* The upper halves of YMM0 to YMM15. */
static inline int avx_differs(const uint8_t* last, uint8_t* scratch) {
#define TW_AVX(number)                           \
  "vextractf128 $1, %%ymm" #number ", %%xmm14\n" \
  "vxorps 16*" #number "(%0), %%xmm14, %%xmm14\n vorps %%xmm14, %%xmm15, %%xmm15\n"
  __asm__ volatile(
      "vmovups %%ymm14, (%1)\n vmovups %%ymm15, 32(%1)\n"
      "vxorps %%xmm15, %%xmm15, %%xmm15\n" TW_0_TO_13(TW_AVX)
      "vmovups %%xmm15, 64(%1)\n vmovups (%1), %%ymm14\n vmovups 32(%1), %%ymm15\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_AVX
  return (words_set(scratch + 64, 2) | words_differ(scratch + 16, last + 14 * 16, 2) |
          words_differ(scratch + 48, last + 15 * 16, 2)) != 0;
}

static inline int avx_differs_in_high16(const uint8_t* last, uint8_t* scratch) {
#define TW_AVX(number)                               \
  "vextractf32x4 $1, %%ymm" #number ", %%xmm30\n" \
  TW_OR_DIFFERENCE "16*" #number "(%0), %%xmm30, %%xmm31\n"
  __asm__ volatile(
      "vmovdqu64 %%zmm30, (%1)\n vmovdqu64 %%zmm31, 64(%1)\n"
      "vpxord %%xmm31, %%xmm31, %%xmm31\n" TW_0_TO_13(TW_AVX) TW_AVX(14) TW_AVX(15)
      "vmovdqu64 %%xmm31, 128(%1)\n"
      "vmovdqu64 (%1), %%zmm30\n vmovdqu64 64(%1), %%zmm31\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_AVX
  return words_set(scratch + 128, 2) != 0;
}

static inline int opmask_differs(const uint8_t* last) {
  uint64_t out = 0, now;
#define TW_MASK(number)                                     \
  __asm__ volatile("kmovq %%k" #number ", %0" : "=r"(now)); \
  out |= now ^ ((const uint64_t*)last)[number];
  TW_MASK(0) TW_MASK(1) TW_MASK(2) TW_MASK(3) TW_MASK(4) TW_MASK(5) TW_MASK(6) TW_MASK(7)
#undef TW_MASK
  return out != 0;
}

/* ZMM16 to ZMM31: ZMM31 has the difference, and at the end ZMM30 what ZMM31 was. */
static inline int high16_differs(const uint8_t* last, uint8_t* scratch) {
#define TW_HIGH16(number) \
  TW_OR_DIFFERENCE "64*" #number "-1024(%0), %%zmm" #number ", %%zmm31\n"
  __asm__ volatile(
      "vmovdqu64 %%zmm30, (%1)\n vmovdqu64 %%zmm31, 64(%1)\n"
      "vpxorq (%0), %%zmm16, %%zmm31\n" TW_HIGH16(17) TW_HIGH16(18) TW_HIGH16(19) TW_HIGH16(20)
          TW_HIGH16(21) TW_HIGH16(22) TW_HIGH16(23) TW_HIGH16(24) TW_HIGH16(25) TW_HIGH16(26)
              TW_HIGH16(27) TW_HIGH16(28) TW_HIGH16(29) TW_HIGH16(30)
      "vmovdqu64 64(%1), %%zmm30\n" TW_OR_DIFFERENCE "960(%0), %%zmm30, %%zmm31\n"
      "vmovdqu64 %%zmm31, 128(%1)\n"
      "vmovdqu64 (%1), %%zmm30\n vmovdqu64 64(%1), %%zmm31\n"
      :
      : "r"(last), "r"(scratch)
      : "memory");
#undef TW_HIGH16
  return words_set(scratch + 128, 8) != 0;
}

static inline int pkru_differs(const uint8_t* last) {
  uint32_t now, zero;
  __asm__ volatile("rdpkru" : "=a"(now), "=d"(zero) : "c"(0));
  return now != *(const uint32_t*)last;
}

/* Of a component in tracewell_geometry.vectors_direct, which is in use. */
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

/* Of all that is in use but MXCSR. They are components in
 * tracewell_geometry.vectors_direct, SSE among them. */
static inline int any_differs(uint64_t in_use, const uint8_t* last, uint8_t* scratch) {
  if (LIKELY((in_use & kHigh16) != 0)) {
    if (sse_differs_in_high16(last + kXmmAt, scratch)) return 1;
    if ((in_use & kAvx) != 0 &&
        avx_differs_in_high16(last + geometry.component_at[kAvxNumber], scratch))
      return 1;
    if (high16_differs(last + geometry.component_at[kHigh16Number], scratch)) return 1;
  } else {
    if (sse_differs(last + kXmmAt, scratch)) return 1;
    if ((in_use & kAvx) != 0 && avx_differs(last + geometry.component_at[kAvxNumber], scratch))
      return 1;
  }
  if ((in_use & kOpmask) != 0 && opmask_differs(last + geometry.component_at[kOpmaskNumber]))
    return 1;
  return (in_use & kPkru) != 0 && pkru_differs(last + geometry.component_at[kPkruNumber]);
}

#undef TW_OR_DIFFERENCE
#undef TW_0_TO_13

#endif
