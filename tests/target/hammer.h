// The program hammer and its 32-bit twin, traced at every kind of instruction, or let go again and
// again.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "target/debuggee.h"

namespace tracewell::target {

struct Hammer {
  std::string program;
  std::vector<std::string> sites;
  uint64_t (*per_call)(const std::string& site);  // how often one call of work() comes by
};

/// Every hit is counted once, and the program computes what it computes untraced.
inline void hammer(const Hammer& what, const LinuxOptions& options, int threads, int calls,
                   bool storm) {
  std::vector<std::string> argv = {what.program, std::to_string(threads), std::to_string(calls)};
  int untraced = 0;
  run_untraced(argv, untraced);
  if (storm) argv.push_back("storm");
  Debuggee one(options);
  one.launch(argv);
  one.target->signals()->pass_signals({SIGALRM});
  std::map<std::string, uint64_t> addresses;
  for (const std::string& site : what.sites) one.site(addresses[site] = one.symbol(site));
  one.resume_all();
  const StopEvent end = one.wait(60);
  EXPECT_EQ(end.kind, StopEvent::Kind::Exited);
  EXPECT_EQ(end.exit_code, WEXITSTATUS(untraced));
  for (const std::string& site : what.sites)
    EXPECT_EQ(one.handler.hits[addresses[site]], static_cast<uint64_t>(threads) *
                                                     static_cast<uint64_t>(calls) *
                                                     what.per_call(site))
        << site;
}

/// Instructions that fail do so at their own address, for the program and for the debugger.
inline void fail_at_their_own_address(const std::string& program, const LinuxOptions& options) {
  for (const bool told : {false, true}) {
    Debuggee one(options);
    one.launch({program});
    if (!told) one.target->signals()->pass_signals({SIGFPE, SIGILL});
    const uint64_t divide = one.symbol("site_divide"), undefined = one.symbol("site_undefined");
    one.site(divide);
    one.site(undefined);
    StopEvent event = one.go();
    for (; event.kind == StopEvent::Kind::Signal; event = one.go(event.signal)) {
      const uint64_t site = event.signal == SIGFPE ? divide : undefined;
      ASSERT_EQ(one.pc(event.tid), site);
      const auto info = one.target->signals()->read_siginfo(event.tid);
      ASSERT_TRUE(info.ok());
      const size_t width = program.ends_with("_32") ? 4 : 8;
      ASSERT_EQ(load_uint(info->data() + (width == 4 ? 12 : 16), width, Endian::Little), site);
    }
    EXPECT_EQ(event.kind, StopEvent::Kind::Exited);
    EXPECT_EQ(event.exit_code, 0);
    EXPECT_EQ(one.handler.hits[divide], 50u);
    EXPECT_EQ(one.handler.hits[undefined], 50u);
  }
}

/// A debugger comes and goes while signals rain on three threads; the program never notices.
inline void let_go_at_random_moments(const Hammer& what, const LinuxOptions& options) {
  const Pid child = start_untraced({what.program, "3", "0", "storm"});
  {
    const Watchdog watchdog(30, "its threads");
    const std::string tasks = "/proc/" + std::to_string(child) + "/task";
    while (std::distance(std::filesystem::directory_iterator(tasks), {}) < 4)
      std::this_thread::yield();
  }
  for (int i = 0; i < 12; ++i) {
    const Watchdog watchdog(60);
    int ended = 0;
    ASSERT_EQ(waitpid(static_cast<pid_t>(child), &ended, WNOHANG), 0)
        << "it was let go " << i << " times and has ended: wait status " << ended;
    Debuggee one(options);
    one.attach(child);
    one.target->signals()->pass_signals({SIGALRM});
    for (const std::string& site : what.sites) one.site(one.symbol(site));
    one.resume_all();
    while (one.handler.total() < static_cast<uint64_t>(17 * i + 1)) {
      one.target->wake();
      auto event = one.target->wait();
      ASSERT_TRUE(event.ok());
      ASSERT_FALSE(event->has_value());
    }
    ASSERT_TRUE(one.target->process_control()->detach(child).ok());
  }
  ::kill(static_cast<pid_t>(child), SIGTERM);
  int status = 0;
  waitpid(static_cast<pid_t>(child), &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 44);  // abort() would say that something was computed wrongly
}

}  // namespace tracewell::target
