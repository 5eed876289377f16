// Opening what is to be served, in a thread, while others wait or no longer do.
#include "server/replay/opening.h"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>
#include <poll.h>

namespace tracewell::server {
namespace {

using Opened = Result<std::unique_ptr<Recording>>;

bool is_readable(int fd, int most_ms) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, most_ms) == 1;
}

TEST(Opening, TellsWhyThereIsNone) {
  auto opening = Opening::start([](const auto&, auto&) -> Opened {
    return Error{Errc::NotFound, "no steps", {}};
  });
  ASSERT_TRUE(opening.ok());
  EXPECT_TRUE(is_readable((*opening)->done_fd(), -1));
  const auto result = (*opening)->result();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "no steps");
  EXPECT_TRUE((*opening)->stop()) << "it has ended";
}

TEST(Opening, MayBeLeftWhileItReads) {
  std::atomic<bool> goes_on = false;
  auto opening = Opening::start([&](const std::atomic<bool>& stop, auto&) -> Opened {
    goes_on.wait(false);
    return Error{Errc::Io, stop ? "stopped" : "not stopped", {}};
  });
  ASSERT_TRUE(opening.ok());
  EXPECT_FALSE(is_readable((*opening)->done_fd(), 0));
  EXPECT_FALSE((*opening)->stop());
  goes_on = true;
  goes_on.notify_one();
  EXPECT_EQ((*opening)->result().error().message, "stopped");
}

TEST(Opening, IsWaitedForWhileItWrites) {
  std::atomic<bool> begun = false;
  auto opening = Opening::start([&](const std::atomic<bool>&, std::atomic<bool>& writes) -> Opened {
    writes = true;
    begun = true;
    begun.notify_one();
    return Error{};
  });
  ASSERT_TRUE(opening.ok());
  begun.wait(false);
  EXPECT_TRUE((*opening)->stop());
}

}  // namespace
}  // namespace tracewell::server
