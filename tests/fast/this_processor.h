// The vector state that this processor has, and how XSAVEC stores it.
#pragma once

#include <cstdint>
#include <vector>

#include <cpuid.h>
#include <unistd.h>

#include "ring/frame_ring.h"

namespace tracewell::fast {

/// Components, as bits (Intel's manual, volume 1, 13.1), and where XSAVEC's header ends.
constexpr uint64_t kX87 = 1, kSse = 2, kAvx = 4, kOpmask = 0x20, kZmmHigh = 0x40, kHigh16 = 0x80;
constexpr uint64_t kHeaderEnd = 576;

/// Of this processor, without x87's two parts and SSE's, which are the same in each.
struct ThisProcessor {
  uint64_t components = kX87 | kSse, direct = kSse, bytes = kHeaderEnd;
  std::vector<tracewell_vector_part> parts = {
      {0, 24, kX87}, {32, 128, kX87}, {24, 8, kSse}, {160, 256, kSse}};
  bool has_xsavec = false;

  ThisProcessor() {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(13, 1, &a, &b, &c, &d) == 0 || (a & 6) != 6) return;
    has_xsavec = true;
    uint32_t enabled = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    components |= enabled & (kAvx | kOpmask | kZmmHigh | kHigh16);
    for (uint32_t i = 2; i < 8; ++i) {
      if ((components >> i & 1) == 0) continue;
      __get_cpuid_count(13, i, &a, &b, &c, &d);
      if ((c & 2) != 0) bytes = (bytes + 63) / 64 * 64;
      parts.push_back({static_cast<uint32_t>(bytes), a, uint64_t{1} << i});
      bytes += a;
    }
    direct |= kAvx;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
      direct |= kHigh16;
    if (__builtin_cpu_supports("avx512bw")) direct |= kOpmask;
    direct &= components;
  }
};

/// Does RDTSCP tell the number of the processor, as Linux sets it up? Some hypervisors leave a
/// number of their own there, and let programs read the counter that PR_SET_TSC denies.
inline bool has_own_time_stamp_counter() {
  uint32_t number = 0;
  __builtin_ia32_rdtscp(&number);
  return (number & 0xfff) < static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
}

}  // namespace tracewell::fast
