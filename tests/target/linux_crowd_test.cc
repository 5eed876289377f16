// Work that grows with the number of threads as they do, and no faster.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"
#include "target/debuggee.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target {
namespace {

constexpr double kExponentMax = 1.15;
#ifdef TRACEWELL_SANITIZED
constexpr int kCrowds[] = {250, 500, 1000};
#else
constexpr int kCrowds[] = {500, 1000, 4000};
#endif

/// What the deeds took, each the least of some rounds: what a program does meanwhile adds to it.
using Work = std::map<std::string, uint64_t>;

/// The kernel goes through all threads in a walk.
uint64_t work_so_far(int threads) {
  return live::work_done + live::walks_done * static_cast<uint64_t>(threads);
}

void count(Work& work, int threads, const std::string& deed, const std::function<void()>& do_it) {
  const uint64_t before = work_so_far(threads);
  do_it();
  const uint64_t took = work_so_far(threads) - before;
  const auto [found, first] = work.try_emplace(deed, took);
  if (!first) found->second = std::min(found->second, took);
}

/// nullopt: the machine has no room for so many threads.
std::optional<Work> work_with(int threads) {
  constexpr int kRounds = 5;
  Work work;
  Debuggee one;
  one.launch({"crowd", std::to_string(threads)});
  one.breakpoint(one.symbol("all_there"));
  const StopEvent there = one.go();
  if (there.kind == StopEvent::Kind::Exited) return std::nullopt;
  EXPECT_EQ(there.kind, StopEvent::Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("all_there"));
  const auto counted = [&](const std::string& deed, const std::function<void()>& do_it) {
    count(work, threads, deed, do_it);
  };
  counted("list", [&] {
    EXPECT_EQ(one.target->threads(0).size(), static_cast<size_t>(threads) + 1);
  });
  counted("describe", [&] {
    for (ThreadInfo& thread : one.target->threads(0)) {
      one.target->describe(thread);
      EXPECT_EQ(thread.name, "crowd");
      EXPECT_GE(thread.core, 0);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    counted("resume", [&] { one.resume_all(); });
    // So that those which do anything are where they are most of the time.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    counted("stop", [&] {
      EXPECT_TRUE(one.target->interrupt().ok());
      EXPECT_EQ(one.wait().kind, StopEvent::Kind::Interrupted);
    });
    counted("detach", [&] {
      EXPECT_TRUE(one.target->process_control()->detach(one.pid).ok());
    });
    counted("attach", [&] { EXPECT_EQ(one.attach(one.pid).kind, StopEvent::Kind::Signal); });
  }
  // Once only, and how often nobody has ended since the last look depends on the machine.
  const uint64_t walks = live::walks_done;
  EXPECT_TRUE(one.target->process_control()->kill(one.pid).ok());
  EXPECT_LT(live::walks_done - walks, static_cast<uint64_t>(threads) / 4) << threads;
  return work;
}

TEST(LinuxCrowd, NothingTakesTheSquareOfTheThreads) {
  std::vector<std::pair<int, Work>> all;
  for (const int threads : kCrowds) {
    const Watchdog watchdog(120, "a crowd");
    const auto work = work_with(threads);
    if (!work) break;
    all.emplace_back(threads, *work);
  }
  ASSERT_GE(all.size(), 2u) << "there may not be " << kCrowds[1] << " threads here";
  const auto& [few, least] = all.front();
  const auto& [many, most] = all.back();
  for (const auto& [deed, took] : most) {
    for (const auto& [threads, work] : all)
      std::cout << deed << " with " << threads << " threads: " << work.at(deed) << "\n";
    const auto some = [](uint64_t work) { return std::max(1.0, static_cast<double>(work)); };
    const double growth = some(took) / some(least.at(deed));
    const double exponent = std::log(growth) / std::log(static_cast<double>(many) / few);
    std::cout << deed << ": exponent " << exponent << "\n";
    EXPECT_LE(exponent, kExponentMax) << deed;
  }
}

}  // namespace
}  // namespace tracewell::target
