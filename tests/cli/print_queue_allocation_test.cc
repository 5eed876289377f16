// The thread of a PrintQueue allocates nothing: an exception in it would end the server. Counts
// every operator new of this program, except under a sanitizer, which has an operator new of its
// own.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "cli/print_queue.h"
#include "sanitized.h"

namespace {
std::atomic<uint64_t> allocations_counted = 0;
}  // namespace

#ifndef TRACEWELL_SANITIZED
// Not inlined: g++ takes an inlined pair of them for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations_counted;
  if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, size_t) noexcept {
  std::free(at);
}
#endif

namespace tracewell::cli {
namespace {

TEST(PrintQueueAllocation, WhatIsWrittenByTheThreadAllocatesNothing) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reads(ends[0]), writes(ends[1]);
  PrintQueue queue(writes.get(), -1);
  const std::string text(5000, 'x');
  for (size_t i = 0; i < 1000; ++i) queue.print(text);
  std::array<char, 1 << 16> some;
  const uint64_t before = allocations_counted;
  std::string_view got;
  while (!got.ends_with(" print\n")) {
    const ssize_t size = read(reads.get(), some.data(), some.size());
    ASSERT_GT(size, 0);
    got = {some.data(), static_cast<size_t>(size)};
  }
  EXPECT_EQ(allocations_counted, before);
}

}  // namespace
}  // namespace tracewell::cli
