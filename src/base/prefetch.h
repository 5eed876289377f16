// Hints to the processor about memory that is needed soon. It follows ascending accesses by itself,
// but not from one page to the next. Addresses need not be anybody's memory.
#pragma once

#include <cstdint>

namespace tracewell {

inline constexpr uint64_t kCacheLine = 64;

inline void prefetch(const void* at) { __builtin_prefetch(at, 0); }
inline void prefetch_for_store(const void* at) { __builtin_prefetch(at, 1); }

}  // namespace tracewell
