// Threads that stop one by one.
#include <algorithm>
#include <csignal>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "target/debuggee.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

class LinuxNonStop : public testing::TestWithParam<bool> {
 protected:
  Debuggee one{{.map_memory = GetParam()}};

  NonStop& mode() { return *one.target->non_stop(); }
  void resume(const std::vector<Tid>& threads, ResumeAction::Kind kind = {}) {
    std::vector<ResumeAction> actions;
    for (const Tid tid : threads) actions.push_back({.tid = tid, .kind = kind});
    ASSERT_TRUE(one.target->resume(actions).ok());
  }
  std::set<Tid> running() {
    std::set<Tid> result;
    for (const ThreadInfo& thread : one.target->threads(0))
      if (thread.running) result.insert(thread.tid);
    return result;
  }
  bool has_registers(Tid tid) {
    std::vector<uint8_t> block(one.target->layout(one.pid).size_bytes);
    return one.target->read_registers(tid, block).ok();
  }
  /// The threads that the next events are about, which are all of that kind.
  std::vector<Tid> told(size_t count, Kind kind) {
    std::vector<Tid> result;
    while (result.size() < count) {
      const StopEvent event = one.wait();
      EXPECT_EQ(event.kind, kind);
      EXPECT_EQ(event.signal, 0);
      EXPECT_EQ(std::count(result.begin(), result.end(), event.tid), 0) << "told twice";
      result.push_back(event.tid);
      if (event.kind != kind) break;
    }
    return result;
  }
  /// Whatever there is to be told now must be nothing.
  void expect_silence() {
    const Watchdog watchdog(30);
    one.target->wake();
    auto event = one.target->wait();
    ASSERT_TRUE(event.ok());
    EXPECT_FALSE(event->has_value());
  }
  void run_until_hits(uint64_t count) {
    const Watchdog watchdog(60);
    while (one.handler.total() < count) {
      one.target->wake();
      auto event = one.target->wait();
      ASSERT_TRUE(event.ok());
      ASSERT_FALSE(event->has_value()) << (*event)->kind;
    }
  }
  /// Four threads that run for ever, each stopped at a breakpoint.
  std::vector<Tid> four_at(const char* symbol) {
    one.launch({"hammer", "4", "0"});
    EXPECT_TRUE(mode().set_non_stop(true).ok());
    EXPECT_FALSE(mode().due());
    one.breakpoint(one.symbol(symbol));
    resume({one.pid});
    return told(4, Kind::Breakpoint);
  }
};

INSTANTIATE_TEST_SUITE_P(, LinuxNonStop, testing::Bool(), [](const auto& param) {
  return param.param ? "Copies" : "InPlace";
});

TEST_P(LinuxNonStop, OneStopsAndTheOthersRun) {
  const std::vector<Tid> four = four_at("site_push");
  EXPECT_EQ(running(), std::set<Tid>{one.pid});
  EXPECT_TRUE(mode().due());
  EXPECT_FALSE(has_registers(one.pid));
  for (const Tid tid : four) EXPECT_EQ(one.pc(tid), one.symbol("site_push"));
  expect_silence();
  one.remove_breakpoint(one.symbol("site_push"));
  resume({four[0], four[1], four[2]});
  EXPECT_EQ(running(), (std::set<Tid>{one.pid, four[0], four[1], four[2]}));
  expect_silence();
  EXPECT_EQ(one.pc(four[3]), one.symbol("site_push"));
  resume({four[3]}, ResumeAction::Kind::Step);
  EXPECT_EQ(told(1, Kind::Stepped), std::vector<Tid>{four[3]});
  EXPECT_NE(one.pc(four[3]), one.symbol("site_push"));
  resume({four[0]});  // it does already
  EXPECT_EQ(running().size(), 4u);
}

TEST_P(LinuxNonStop, ThreadsAreStoppedWhereTheyAre) {
  const std::vector<Tid> four = four_at("site_push");
  one.remove_breakpoint(one.symbol("site_push"));
  resume(four);
  ASSERT_TRUE(mode().stop(std::vector<Tid>{four[1], 999999999}).ok());
  EXPECT_EQ(told(1, Kind::Signal), std::vector<Tid>{four[1]});
  EXPECT_TRUE(has_registers(four[1]));
  ASSERT_TRUE(mode().stop(std::vector<Tid>{four[1]}).ok());
  expect_silence();
  ASSERT_TRUE(mode().stop(std::vector<Tid>{one.pid, four[0], four[2], four[3]}).ok());
  told(4, Kind::Signal);
  EXPECT_TRUE(running().empty());
  EXPECT_FALSE(mode().due());
  expect_silence();
}

TEST_P(LinuxNonStop, CtrlCStopsOneThread) {
  const std::vector<Tid> four = four_at("site_push");
  one.remove_breakpoint(one.symbol("site_push"));
  resume(four);
  ASSERT_TRUE(one.target->interrupt().ok());
  const StopEvent event = one.wait();
  EXPECT_EQ(event.kind, Kind::Interrupted);
  EXPECT_EQ(event.tid, one.pid);
  EXPECT_EQ(running().size(), 4u);
}

TEST_P(LinuxNonStop, SitesComeAndGoWhileThreadsRun) {
  const std::vector<Tid> four = four_at("site_push");
  one.remove_breakpoint(one.symbol("site_push"));
  resume(four);
  one.site(one.symbol("site_pop"));
  one.site(one.symbol("site_loop"));
  run_until_hits(GetParam() ? 4000 : 400);
  ASSERT_TRUE(mode().stop(std::vector<Tid>{four[2]}).ok());
  told(1, Kind::Signal);
  const uint64_t before = one.handler.by_thread[four[2]];
  run_until_hits(one.handler.total() + (GetParam() ? 1000 : 100));
  EXPECT_EQ(one.handler.by_thread[four[2]], before) << "it stands still";
  ASSERT_TRUE(one.target->trace_sites()->remove(one.pid, one.symbol("site_pop")).ok());
  ASSERT_TRUE(one.target->trace_sites()->remove(one.pid, one.symbol("site_loop")).ok());
  // A thread that was in the middle of it must still compute what it should: it aborts if not.
  one.breakpoint(one.symbol("site_ret"));
  told(3, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("site_ret"));
  resume(four);
  ASSERT_TRUE(mode().set_non_stop(false).ok());
  for (const Tid tid : four) EXPECT_TRUE(has_registers(tid));
  EXPECT_TRUE(running().empty());
}

TEST_P(LinuxNonStop, DebugRegistersReachThreadsThatRun) {
  if (!has_debug_registers()) GTEST_SKIP() << "debug registers stop nothing here";
  const std::vector<Tid> four = four_at("site_push");
  one.remove_breakpoint(one.symbol("site_push"));
  resume(four);
  using Hardware = Breakpoints::Kind;
  const uint64_t at = one.symbol("site_ret");
  ASSERT_TRUE(one.target->breakpoints()->insert(one.pid, Hardware::Hardware, at, 1).ok());
  told(4, Kind::Hardware);
  ASSERT_TRUE(one.target->breakpoints()->remove(one.pid, Hardware::Hardware, at, 1).ok());
  resume(four);
  expect_silence();
}

/// Where others keep the processors busy, whoever stops threads may always come before they get
/// anywhere: after so many stops they are left to run to their end. (On a quiet machine they get
/// there after some 900, and with copies after 4500.)
constexpr size_t kStopsMax = 10000;

TEST_P(LinuxNonStop, ThreadsStopAndGoAtAnyMoment) {
  std::mt19937 random(7);
  const uint64_t waves = GetParam() ? 60 : 15;
  one.launch({"churn", std::to_string(waves)});
  one.site(one.symbol("work"));
  ASSERT_TRUE(mode().set_non_stop(true).ok());
  resume({one.pid});
  std::set<Tid> stopped;
  StopEvent end;
  size_t stops = 0;
  const Watchdog watchdog(120);
  for (;;) {
    const std::set<Tid> threads = running();
    const bool stops_more = stops < kStopsMax;
    if (stops_more && !threads.empty() && random() % 2 == 0) {
      std::vector<Tid> some;
      for (const Tid tid : threads)
        if (random() % 2 == 0) some.push_back(tid);
      ASSERT_TRUE(mode().stop(some).ok());
    }
    if (stops_more || !stopped.empty()) one.target->wake();
    auto event = one.target->wait();
    ASSERT_TRUE(event.ok());
    if (*event) {
      end = **event;
      if (end.kind == Kind::Exited) break;
      if (end.kind != Kind::NoneLeft) {
        ASSERT_TRUE(end.kind == Kind::Signal || end.kind == Kind::Stepped) << end.kind;
        ASSERT_TRUE(stopped.insert(end.tid).second) << "told twice";
        ASSERT_NE(one.pc(end.tid), 0u);
        ++stops;
        continue;
      }
    }
    std::vector<Tid> again;
    for (const Tid tid : stopped)
      if (random() % 2 == 0) again.push_back(tid);
    for (const Tid tid : again) {
      stopped.erase(tid);
      const bool steps = stops_more && random() % 4 == 0;
      resume({tid}, steps ? ResumeAction::Kind::Step : ResumeAction::Kind::Continue);
    }
  }
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(one.handler.total(), waves * 60);
}

TEST_P(LinuxNonStop, AForksChildStandsStill) {
  one.target->process_control()->report_forks(true, true, true);
  one.launch({"debuggee", "fork"});
  ASSERT_TRUE(mode().set_non_stop(true).ok());
  resume({one.pid});
  const StopEvent fork = one.wait();
  ASSERT_EQ(fork.kind, Kind::Fork);
  EXPECT_TRUE(has_registers(fork.child_pid));
  EXPECT_TRUE(running().empty());
  resume({one.pid});
  expect_silence();  // it waits for its child
  EXPECT_EQ(running(), std::set<Tid>{one.pid});
  resume({fork.child_pid});
  StopEvent end = one.wait();
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.pid, fork.child_pid);
  EXPECT_EQ(end.exit_code, 5);
  for (end = one.wait(); end.kind == Kind::Signal; end = one.wait()) resume({one.pid});  // SIGCHLD
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.pid, one.pid);
  EXPECT_EQ(end.exit_code, 15);
  EXPECT_FALSE(mode().due());
}

/// What is meant for the old program must not reach the new one.
TEST_P(LinuxNonStop, AnExecIsKnownBeforeItIsTold) {
  one.target->process_control()->report_forks(false, false, true);
  one.launch({"families", "exec"});
  EXPECT_FALSE(one.target->exec_untold(one.pid));
  ASSERT_TRUE(mode().set_non_stop(true).ok());
  resume({one.pid});
  {
    const Watchdog watchdog(30);
    while (!one.target->exec_untold(one.pid)) {
    }
  }
  EXPECT_TRUE(one.target->exec_untold(one.pid));
  EXPECT_TRUE(mode().due());
  EXPECT_EQ(one.wait().kind, Kind::Exec);
  EXPECT_FALSE(one.target->exec_untold(one.pid));
  EXPECT_FALSE(one.target->exec_untold(999999999));
  resume({one.pid});
  EXPECT_EQ(one.wait().exit_code, 17);
}

TEST_P(LinuxNonStop, KillingWhileThreadsRun) {
  const std::vector<Tid> four = four_at("site_push");
  one.remove_breakpoint(one.symbol("site_push"));
  resume({four[0], four[1]});
  ASSERT_TRUE(one.target->process_control()->kill(one.pid).ok());
  EXPECT_TRUE(one.target->processes().empty());
  EXPECT_FALSE(mode().due());
}

TEST_P(LinuxNonStop, AttachingAndDetachingLeaveThreadsRunning) {
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  const Pid pid = start_untraced({"hammer", "4", "0"}, out[1]);
  ASSERT_TRUE(mode().set_non_stop(true).ok());
  while (one.target->processes().empty() || one.target->threads(pid).size() < 5) {
    if (!one.target->processes().empty()) {
      ASSERT_TRUE(one.target->process_control()->detach(pid).ok());
    }
    ASSERT_TRUE(one.target->process_control()->attach(pid).ok());
  }
  one.pid = pid;
  EXPECT_EQ(running().size(), 5u);
  expect_silence();
  const std::set<Tid> threads = running();
  ASSERT_TRUE(mode().stop(std::vector<Tid>(threads.begin(), threads.end())).ok());
  told(5, Kind::Signal);
  resume({*threads.rbegin()});
  ASSERT_TRUE(one.target->process_control()->detach(pid).ok());
  EXPECT_TRUE(one.target->processes().empty());
  ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(waitpid(static_cast<pid_t>(pid), &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 44) << status;
  close(out[0]);
  close(out[1]);
}

}  // namespace
}  // namespace tracewell::target
