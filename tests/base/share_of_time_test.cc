#include "base/share_of_time.h"

#include <gtest/gtest.h>

namespace tracewell {
namespace {

TEST(ShareOfTime, RestsForAsManyTimesAsItTook) {
  ShareOfTime share(9);
  EXPECT_TRUE(share.is_due(0));
  share.took(100, 107);
  EXPECT_FALSE(share.is_due(107));
  EXPECT_FALSE(share.is_due(107 + 9 * 7 - 1));
  EXPECT_TRUE(share.is_due(107 + 9 * 7));
}

// A tenth, whatever a turn takes: what is asked all the time is done for so much of it.
TEST(ShareOfTime, IsOfAllTime) {
  ShareOfTime share(9);
  int64_t now = 0, busy = 0;
  while (now < 1'000'000) {
    if (share.is_due(now)) {
      const int64_t turn = 1 + now % 50;
      share.took(now, now + turn);
      now += turn, busy += turn;
    } else {
      ++now;
    }
  }
  EXPECT_NEAR(static_cast<double>(busy) / static_cast<double>(now), 0.1, 0.001);
}

}  // namespace
}  // namespace tracewell
