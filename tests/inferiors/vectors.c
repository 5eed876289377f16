// Loads known values into vector and mask registers, as wide as the processor has them, and stops.
// Prints what it loaded last: sse, avx or avx512.
#include <stdint.h>
#include <stdio.h>

static uint8_t pattern[64] __attribute__((aligned(64)));

__attribute__((noinline)) void sse_loaded(void) { __asm__ volatile(""); }
__attribute__((noinline)) void avx_loaded(void) { __asm__ volatile(""); }
__attribute__((noinline)) void avx512_loaded(void) { __asm__ volatile(""); }

int main(void) {
  for (int i = 0; i < 64; ++i) pattern[i] = (uint8_t)(3 * i + 1);
  __asm__ volatile("movdqa %0, %%xmm5" : : "m"(pattern) : "xmm5");
  sse_loaded();
  if (__builtin_cpu_supports("avx")) {
    __asm__ volatile("vmovdqa %0, %%ymm5" : : "m"(pattern) : "xmm5");
    avx_loaded();
  }
  if (__builtin_cpu_supports("avx512f")) {
    __asm__ volatile(
        "vmovdqa64 %0, %%zmm6\n\t"
        "vmovdqa64 %0, %%zmm21\n\t"
        "mov $0x1234, %%eax\n\t"
        "kmovw %%eax, %%k3"
        :
        : "m"(pattern)
        : "eax", "memory");
    avx512_loaded();
  }
  puts("done");
  return 0;
}
