// TRACEWELL_SANITIZED: AddressSanitizer or ThreadSanitizer watches each load and owns the heap.
// g++ and clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRACEWELL_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRACEWELL_SANITIZED
#endif
#endif
