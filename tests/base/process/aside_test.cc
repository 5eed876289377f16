#include "base/process/aside.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace tracewell {
namespace {

TEST(Aside, GivesTheAnswer) { EXPECT_EQ(asked_aside<int>([] { return 7; }), 7); }

TEST(Aside, NobodyWaitsForWhatDoesNotAnswer) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const auto ask = [fd = ends[0]] {
    char byte = 0;
    return static_cast<int>(::read(fd, &byte, 1));
  };
  EXPECT_EQ(asked_aside<int>(ask, std::chrono::milliseconds(20)), std::nullopt);
  EXPECT_EQ(asked_aside<int>([] { return 7; }), 7);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);  // the first one goes
  ::close(ends[1]);
}

}  // namespace
}  // namespace tracewell
