// The thread of a PrintQueue allocates nothing: an exception in it would end the server.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/files/unique_fd.h"
#include "counted_allocations.h"
#include "server/live/print_queue.h"

namespace tracewell::server {
namespace {

TEST(PrintQueueAllocation, WhatIsWrittenByTheThreadAllocatesNothing) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reads(ends[0]), writes(ends[1]);
  PrintQueue queue(writes.get(), -1);
  const std::string text(5000, 'x');
  for (size_t i = 0; i < 1000; ++i) queue.print(text);
  std::array<char, 1 << 16> some;
  const uint64_t before = allocations;
  std::string_view got;
  while (!got.ends_with(" print\n")) {
    const ssize_t size = read(reads.get(), some.data(), some.size());
    ASSERT_GT(size, 0);
    got = {some.data(), static_cast<size_t>(size)};
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace tracewell::server
