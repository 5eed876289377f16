// TRACEWELL_SANITIZED: AddressSanitizer or ThreadSanitizer watches each load and owns the heap.
// g++ and clang say so in different ways.
#pragma once

#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRACEWELL_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRACEWELL_SANITIZED
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define TRACEWELL_WATCHES_THREADS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRACEWELL_WATCHES_THREADS
#endif
#endif

namespace tracewell::test {

/// Of many cases of a kind, a watched test takes each that many-th. A prime, so that what varies
/// with a case's number still varies. Where threads are watched, many cases in one thread show
/// nothing that AddressSanitizer has not seen.
#if defined(TRACEWELL_WATCHES_THREADS)
inline constexpr size_t kEach = 31;
#elif defined(TRACEWELL_SANITIZED)
inline constexpr size_t kEach = 7;
#else
inline constexpr size_t kEach = 1;
#endif

/// The same of cases that take milliseconds each. TRACEWELL_LONG=1: all of them.
inline size_t each_slow() {
  if (std::getenv("TRACEWELL_LONG") != nullptr) return kEach;
  return kEach == 1 ? 3 : 3 * kEach + 2;
}

}  // namespace tracewell::test
