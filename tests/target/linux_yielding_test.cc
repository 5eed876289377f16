// When code of ours in a program may let others run by a system call.
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "target/debuggee.h"
#include "target/fast_sites.h"
#include "target/system_calls.h"

namespace tracewell::target {
namespace {

FastSites& fast_sites_of(Debuggee& one) { return *one.target->trace_sites()->fast(); }

void launch_crowd(Debuggee& one, unsigned threads) {
  one.launch({"crowd", std::to_string(threads)});
  one.breakpoint(one.symbol("all_there"));
  ASSERT_EQ(one.go().kind, StopEvent::Kind::Breakpoint);
}

/// Once each of the threads was looked at, some at a time.
TEST(LinuxYielding, WhereThreadsAreMoreThanProcessorsAndHaveNoFilters) {
  const Watchdog watchdog(120, "a crowd");
  const unsigned threads = 2 * std::thread::hardware_concurrency() + 200;
  Debuggee one;
  launch_crowd(one, threads);
  FastSites& fast = fast_sites_of(one);
  SystemCalls& calls = *one.target->system_calls();
  EXPECT_FALSE(fast.conduct(one.pid).may_yield) << "nobody has looked at most of them";
  for (unsigned i = 0; i <= threads; ++i) static_cast<void>(fast.conduct(one.pid));
  EXPECT_TRUE(fast.conduct(one.pid).may_yield);
  ASSERT_TRUE(calls.catch_system_calls(one.pid, true, {}).ok());
  EXPECT_FALSE(fast.conduct(one.pid).may_yield) << "each call is a stop";
  ASSERT_TRUE(calls.catch_system_calls(one.pid, false, {}).ok());
  EXPECT_TRUE(fast.conduct(one.pid).may_yield);
}

TEST(LinuxYielding, NotInAProgramWithFewThreads) {
  const Watchdog watchdog(120, "a crowd");
  Debuggee one;
  launch_crowd(one, 0);
  FastSites& fast = fast_sites_of(one);
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(fast.conduct(one.pid).may_yield);
}

}  // namespace
}  // namespace tracewell::target
