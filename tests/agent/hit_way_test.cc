#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/engine/hit_way.h"

namespace tracewell::agent {
namespace {

using target::because;
using target::TrapReason;

constexpr TrapReason kAllReasons[] = {
#define TRAP_REASON(name, scope, text) TrapReason::name,
#include "target/trap_reasons.def"
#undef TRAP_REASON
};

TEST(HitWays, EachReasonIsFoundInItsError) {
  for (const TrapReason reason : kAllReasons) {
    if (target::text_of(reason).empty()) continue;
    EXPECT_EQ(target::trap_reason(because(reason)), reason) << target::text_of(reason);
    EXPECT_EQ(target::trap_reason(because(reason, ", and more")), reason);
  }
  EXPECT_EQ(target::trap_reason({Errc::Target, "something else", {}}), TrapReason::Other);
}

TEST(HitWays, OneInWords) {
  EXPECT_EQ(text_of(HitWay::pad(HitCost::Memory)), "a pad, about 0.02 us a hit");
  EXPECT_EQ(text_of(HitWay::trap(because(TrapReason::Steps))),
            "a trap, about 15 us a hit: it steps");
  EXPECT_EQ(text_of(HitWay{}), "in no program");
}

TEST(HitWays, ThoseAlikeAreToldTogether) {
  const std::vector<PointWay> points = {{3, HitWay::pad(HitCost::Memory)},
                                        {1, HitWay::pad(HitCost::Memory)},
                                        {9, HitWay::trap(because(TrapReason::Steps))},
                                        {2, HitWay::pad(HitCost::Memory)},
                                        {2, HitWay::pad(HitCost::Memory)},
                                        {7, HitWay::pad(HitCost::Memory)},
                                        {8, {}}};
  EXPECT_EQ(text_of(points),
            "tracepoints 1-3, 7: a pad, about 0.02 us a hit; "
            "tracepoint 9: a trap, about 15 us a hit: it steps");
  EXPECT_EQ(text_of(std::vector<PointWay>{{8, {}}}), "");
}

TEST(HitWays, ManyTakeAFewLines) {
  std::vector<PointWay> points;
  for (uint32_t i = 0; i < 30'000; ++i)
    points.push_back({2 * i, HitWay::trap(because(TrapReason::Room, std::to_string(i % 100)))});
  const std::string text = text_of(points);
  EXPECT_LT(text.size(), 2000u);
  EXPECT_NE(text.find("and "), std::string::npos);
  EXPECT_NE(text.find("27600 more: monitor tracepoints"), std::string::npos) << text;
}

TEST(HitWays, LossesAreTheirReasons) {
  HitLosses losses;
  EXPECT_EQ(text_of(losses), "");
  losses.no_room = 3;
  HitLosses more;
  more.no_room = 1;
  more.shared = 2;
  more.unfinished = 1;
  losses += more;
  EXPECT_EQ(losses.all(), 7u);
  EXPECT_EQ(text_of(losses),
            "hits lost: 4 waited in vain for room in their thread's ring, "
            "2 waited in vain for room in a ring that threads share, "
            "1 were under way when their thread, or the run, ended");
}

}  // namespace
}  // namespace tracewell::agent
