// How often a test's program has allocated memory with operator new: `allocations`. Under a
// sanitizer, which has an operator new of its own, nothing is counted. One file of a program
// includes this, since a program has one operator new; what that file says of it holds for all.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "sanitized.h"

namespace tracewell {
inline std::atomic<uint64_t> allocations{0};
}

#ifndef TRACEWELL_SANITIZED
// Not inlined: g++ takes an inlined pair of them for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  ++tracewell::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif
