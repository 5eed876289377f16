#include "base/process/urgency.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tracewell {
namespace {

int niceness() { return getpriority(PRIO_PROCESS, 0); }

TEST(Urgency, LastsAsLongAsAnyReasonForIt) {
  const int usual = niceness();
  const bool may = setpriority(PRIO_PROCESS, 0, usual - 1) == 0;
  ASSERT_TRUE(!may || setpriority(PRIO_PROCESS, 0, usual) == 0);
  if (!may) {  // this user's programs cannot go before others
    const Urgent urgent;
    EXPECT_EQ(niceness(), usual);
    return;
  }
  {
    const Urgent outer;
    EXPECT_LT(niceness(), usual);
    {
      const Urgent inner;
      be_urgent(true);
    }
    EXPECT_LT(niceness(), usual);
    be_urgent(false);
    EXPECT_LT(niceness(), usual);
    be_urgent(true);
  }
  EXPECT_LT(niceness(), usual) << "it was asked for";
  be_urgent(false);
  EXPECT_EQ(niceness(), usual);
}

}  // namespace
}  // namespace tracewell
