// Many threads, stops at any moment, signal handlers at sites.
#include <algorithm>
#include <csignal>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "target/debuggee.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

class LinuxThreads : public testing::TestWithParam<bool> {
 protected:
  LinuxOptions options() const { return {.map_memory = GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(, LinuxThreads, testing::Bool(), [](const auto& param) {
  return param.param ? "Copies" : "InPlace";
});

TEST_P(LinuxThreads, ComeAndGo) {
  Debuggee one(options());
  const uint64_t waves = GetParam() ? 100 : 20;
  one.launch({"churn", std::to_string(waves)});
  one.site(one.symbol("work"));
  const StopEvent end = one.go();
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(one.handler.total(), waves * 60);
}

TEST_P(LinuxThreads, AreStoppedAndStartedAtAnyMoment) {
  std::mt19937 random(11);
  Debuggee one(options());
  const uint64_t waves = GetParam() ? 60 : 15;
  one.launch({"churn", std::to_string(waves)});
  one.site(one.symbol("work"));
  StopEvent event;
  for (;;) {
    const Watchdog watchdog(60);
    one.resume_all();
    std::thread ringer([&, pause = random() % 2000] {
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
      one.target->wake();
    });
    auto woken = one.target->wait();
    ringer.join();
    ASSERT_TRUE(woken.ok());
    if (!*woken) {
      ASSERT_TRUE(one.target->interrupt().ok());
    }
    event = *woken ? **woken : one.wait();
    if (event.kind != Kind::Interrupted) break;
    one.told = event.tid;
    for (const ThreadInfo& thread : one.target->threads(0)) EXPECT_NE(one.pc(thread.tid), 0u);
    if (random() % 3 == 0) {
      const Tid tid = one.told;
      ASSERT_EQ(one.target->interrupt().ok(), true);
      event = one.step(tid);
      if (event.kind == Kind::Exited) break;
      if (event.kind == Kind::NoneLeft) continue;  // it ended, alone
      ASSERT_TRUE(event.kind == Kind::Stepped || event.kind == Kind::Interrupted) << event.kind;
    }
  }
  EXPECT_EQ(event.kind, Kind::Exited);
  EXPECT_EQ(event.exit_code, 0);
  EXPECT_EQ(one.handler.total(), waves * 60);
}

/// What a debugger does at a breakpoint: takes it out, steps that thread alone, puts it back.
TEST(LinuxThreadsAndBreakpoints, EachThreadIsToldOfOnce) {
  Debuggee one;
  one.launch({"hammer", "4", "50"});
  const uint64_t address = one.symbol("site_push");
  one.breakpoint(address);
  int told = 0;
  StopEvent event = one.go();
  for (; event.kind == Kind::Breakpoint; event = one.go()) {
    ASSERT_EQ(one.pc(event.tid), address);
    ++told;
    one.remove_breakpoint(address);
    ASSERT_EQ(one.step(event.tid).kind, Kind::Stepped);
    EXPECT_EQ(one.pc(event.tid), address + 1);
    one.breakpoint(address);
  }
  EXPECT_EQ(event.kind, Kind::Exited);
  EXPECT_EQ(told, 200);
}

TEST(LinuxThreadsAndBreakpoints, ThreadsTakeTurns) {
  Debuggee one;
  one.launch({"hammer", "2", "0"});
  const uint64_t address = one.symbol("site_call");
  std::map<Tid, int> told;
  // How many times one comes before the other is even started, the machine decides.
  constexpr int kStopsMax = 10000;
  for (int i = 0; i < kStopsMax && told.size() < 2; ++i) {
    one.breakpoint(address);
    const StopEvent event = one.go();
    ASSERT_EQ(event.kind, Kind::Breakpoint);
    ++told[event.tid];
    one.remove_breakpoint(address);
  }
  EXPECT_EQ(told.size(), 2u);
}

TEST(LinuxThreadsAndBreakpoints, LeaderEndsWhileTheOthersStandStill) {
  Debuggee one;
  one.launch({"ends", "leader", "5"});
  one.breakpoint(one.symbol("late"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  const Tid other = one.told;
  one.remove_breakpoint(one.symbol("late"));
  ResumeAction action;
  action.tid = one.pid;
  const Status leader = one.target->resume({&action, 1});
  if (leader.ok()) {  // or it has ended already
    EXPECT_EQ(one.wait().kind, Kind::NoneLeft);
  }
  ASSERT_EQ(one.target->threads(one.pid).size(), 1u);
  EXPECT_EQ(one.target->threads(one.pid)[0].tid, other);
  EXPECT_EQ(one.go().exit_code, 5);
}

TEST_P(LinuxThreads, FaultHandlersSeeTheProgramsOwnAddress) {
  for (const char* what : {"repair", "jump", "skip"})
    for (const bool told : {false, true}) {
      SCOPED_TRACE(what);
      Debuggee one(options());
      one.launch({"faults", what});
      if (!told) one.target->signals()->pass_signals({SIGSEGV});
      const uint64_t site = one.symbol("site_load");
      one.site(site);
      StopEvent event = one.go();
      for (; event.kind == Kind::Signal; event = one.go(SIGSEGV)) {
        ASSERT_EQ(event.signal, SIGSEGV);
        ASSERT_EQ(one.pc(event.tid), site);
      }
      EXPECT_EQ(event.kind, Kind::Exited);
      EXPECT_EQ(event.exit_code, 0);
      EXPECT_EQ(one.handler.hits[site], 100u);
    }
}

TEST_P(LinuxThreads, SteppingAndSignalsAtASite) {
  Debuggee one(options());
  one.launch({"faults", "repair"});
  const uint64_t site = one.symbol("site_load");
  one.site(site);
  ASSERT_EQ(one.go().signal, SIGSEGV);
  const StopEvent entered = one.step(one.told, SIGSEGV);  // into the handler
  EXPECT_EQ(entered.kind, Kind::Stepped);
  EXPECT_EQ(one.pc(one.told), one.symbol("on_fault"));
  EXPECT_EQ(one.handler.hits[site], 1u);
  one.target->signals()->pass_signals({SIGSEGV});
  EXPECT_EQ(one.go().exit_code, 0);
  EXPECT_EQ(one.handler.hits[site], 100u);
}

TEST(LinuxSignals, ASignalFromTheDebuggerReachesTheHandler) {
  Debuggee one;
  one.launch({"hammer", "1", "0"});
  one.breakpoint(one.symbol("site_push"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("site_push"));
  one.resume_all();
  ASSERT_TRUE(one.target->interrupt().ok());
  ASSERT_EQ(one.wait().kind, Kind::Interrupted);
  // The stop was no signal's, so this one has to be sent.
  const StopEvent end = one.go(SIGTERM);
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, 44);
}

TEST(LinuxSignals, PendingOnesAreToldOneAfterTheOther) {
  Debuggee one;
  one.launch({"hammer", "2", "0"});
  one.breakpoint(one.symbol("site_push"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("site_push"));
  kill(static_cast<pid_t>(one.pid), SIGUSR1);
  kill(static_cast<pid_t>(one.pid), SIGUSR2);
  std::vector<int> told;
  for (int i = 0; i < 2; ++i) {
    const StopEvent event = one.go();
    ASSERT_EQ(event.kind, Kind::Signal);
    told.push_back(event.signal);
  }
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

}  // namespace
}  // namespace tracewell::target
