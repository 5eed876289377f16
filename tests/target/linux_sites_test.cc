// Tracepoint sites: every hit is counted once, and the program computes what it computes untraced.
#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "target/debuggee.h"
#include "target/hammer.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

const std::vector<std::string> kHammerSites = {
    "site_push", "site_rip", "site_call",  "site_icall", "site_leaf",   "site_jcc",
    "site_loop", "mix",      "site_flags", "site_pushf", "site_popf",   "site_popf_half",
    "site_rep",  "site_vector", "site_pop", "site_ret",
};

/// How often one call of work() comes by.
uint64_t per_call(const std::string& site) {
  return site == "site_loop" ? 5 : site == "mix" ? 2 : 1;
}

/// Both ways past a site: from a copy, and in place.
class LinuxSites : public testing::TestWithParam<bool> {
 protected:
  LinuxOptions options() const { return {.map_memory = GetParam()}; }
};

const Hammer kHammer = {"hammer", kHammerSites, per_call};

TEST_P(LinuxSites, EveryKindOfInstruction) { hammer(kHammer, options(), 1, 100, false); }

TEST_P(LinuxSites, FourThreadsAtOneSite) {
  hammer({"hammer", {"site_push"}, per_call}, options(), 4, GetParam() ? 5000 : 500, false);
}

TEST_P(LinuxSites, FourThreadsEverywhere) {
  hammer(kHammer, options(), 4, GetParam() ? 500 : 50, false);
}

TEST_P(LinuxSites, SignalStorm) {
  hammer(kHammer, options(), 3, GetParam() ? 1000 : 100, true);
}

TEST_P(LinuxSites, SignalStormOneThread) {
  hammer(kHammer, options(), 1, GetParam() ? 4000 : 300, true);
}

void system_call(const LinuxOptions& options, const std::string& what, uint64_t hits, int code) {
  SCOPED_TRACE(what);
  Debuggee one(options);
  one.launch({"syscalls", what});
  one.target->signals()->pass_signals({SIGALRM, SIGCHLD});
  const uint64_t site = one.symbol("site_syscall"), after = one.symbol("site_after");
  one.site(site);
  one.site(after);
  const StopEvent end = one.go();
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, code);
  EXPECT_EQ(one.handler.hits[site], hits);
  EXPECT_EQ(one.handler.hits[after], what == "exit" ? 0 : hits);
}

TEST_P(LinuxSites, SystemCallsBlockRestartAndFork) {
  for (const char* what : {"getpid", "read", "ignored", "eintr", "restart", "fork", "vfork"})
    system_call(options(), what, 1, 0);
  system_call(options(), "exit", 1, 33);
}

TEST_P(LinuxSites, SystemCallInterruptedByTheDebugger) {
  Debuggee one(options());
  one.launch({"syscalls", "asked"});
  const uint64_t site = one.symbol("site_syscall");
  one.site(site);
  one.resume_all();
  {
    const Watchdog watchdog(30, "the call");
    while (one.handler.hits[site] == 0) {
      one.target->wake();
      ASSERT_TRUE(one.target->wait().ok());
    }
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(one.target->interrupt().ok());
    ASSERT_EQ(one.wait().kind, Kind::Interrupted);
    one.resume_all();
  }
  ASSERT_EQ(::kill(static_cast<pid_t>(one.pid), SIGUSR1), 0);
  const StopEvent end = one.wait();
  EXPECT_EQ(end.kind, Kind::Exited);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(one.handler.hits[site], 1u);
}

TEST_P(LinuxSites, WhileSteppingGoesThroughCallsAndOtherSites) {
  Debuggee one(options());
  one.launch({"hammer", "1", "10"});
  const uint64_t start = one.symbol("site_push");
  one.site(start);
  one.site(one.symbol("site_call"));
  one.handler.steps_wanted = 6;
  EXPECT_EQ(one.go().kind, Kind::Exited);
  EXPECT_EQ(one.handler.hits[start], 10u);
  EXPECT_EQ(one.handler.hits[one.handler.hits.rbegin()->first], 10u);
  // push, mov, imul; then the second site starts over with call, mov, shr, xor, ret, call.
  ASSERT_EQ(one.handler.step_pcs.size(), 10u * (3 + 6));
  const uint64_t mix = one.handler.step_pcs[3];
  EXPECT_LT(mix, start);
  EXPECT_EQ(one.handler.step_pcs[0], start + 1);
}

TEST_P(LinuxSites, ThreadsMayEndBeforeTheirSteps) {
  Debuggee one(options());
  one.launch({"hammer", "3", "1"});
  one.site(one.symbol("site_ret"));
  one.handler.steps_wanted = 1'000'000;
  EXPECT_EQ(one.go().kind, Kind::Exited);
  std::sort(one.handler.ended.begin(), one.handler.ended.end());
  std::vector<Tid> stepped;
  for (const auto& [tid, hits] : one.handler.by_thread) stepped.push_back(tid);
  EXPECT_EQ(stepped.size(), 3u);
  EXPECT_EQ(one.handler.ended, stepped);
}

TEST_P(LinuxSites, BreakpointAtTheSameAddress) {
  Debuggee one(options());
  one.launch({"hammer", "1", "5"});
  const uint64_t address = one.symbol("site_call");
  one.site(address);
  for (int i = 1; i <= 5; ++i) {
    one.breakpoint(address);
    const StopEvent event = one.go();
    ASSERT_EQ(event.kind, Kind::Breakpoint);
    EXPECT_EQ(one.pc(event.tid), address);
    EXPECT_EQ(one.handler.hits[address], static_cast<uint64_t>(i));
    one.remove_breakpoint(address);
    if (i % 2 == 0) {
      EXPECT_EQ(one.step(event.tid).kind, Kind::Stepped);
      EXPECT_LT(one.pc(event.tid), address);  // mix() stands before work()
    } else {
      const uint64_t behind = one.symbol("site_icall");
      one.breakpoint(behind);
      EXPECT_EQ(one.go().address, behind);
      one.remove_breakpoint(behind);
    }
  }
  EXPECT_EQ(one.go().kind, Kind::Exited);
  EXPECT_EQ(one.handler.hits[address], 5u);
}

TEST_P(LinuxSites, FaultsSeeTheOriginalAddress) {
  Debuggee one(options());
  one.launch({"ends", "trap", "3"});
  // The instruction behind the program's own int3 tells where that is.
  ASSERT_EQ(one.go().signal, SIGTRAP);
  const uint64_t trap = one.pc(one.told) - 1;
  Debuggee two(options());
  two.launch({"ends", "trap", "3"});
  two.site(trap);
  const StopEvent event = two.go();
  EXPECT_EQ(event.kind, Kind::Signal);
  EXPECT_EQ(event.signal, SIGTRAP);
  EXPECT_EQ(two.pc(two.told), trap + 1);
  EXPECT_EQ(two.handler.hits[trap], 1u);
  EXPECT_EQ(two.go().exit_code, 3);
}

TEST_P(LinuxSites, InstructionsFailAtTheirOwnAddress) {
  fail_at_their_own_address("failing", options());
}

TEST_P(LinuxSites, LetGoAtRandomMoments) { let_go_at_random_moments(kHammer, options()); }

TEST_P(LinuxSites, SitesComeAndGoWhileThreadsRun) {
  Debuggee one(options());
  one.launch({"hammer", "4", "0"});
  const uint64_t site = one.symbol("site_push"), other = one.symbol("site_call");
  one.resume_all();
  for (int i = 0; i < 50; ++i) {
    const Watchdog watchdog(30);
    one.site(i % 2 == 0 ? site : other);
    const uint64_t before = one.handler.total();
    while (one.handler.total() == before) {
      one.target->wake();
      auto event = one.target->wait();
      ASSERT_TRUE(event.ok());
      ASSERT_FALSE(event->has_value());
    }
    ASSERT_TRUE(one.target->trace_sites()->remove(one.pid, site).ok());
    ASSERT_TRUE(one.target->trace_sites()->remove(one.pid, other).ok());
  }
  ASSERT_TRUE(one.target->interrupt().ok());
  EXPECT_EQ(one.wait().kind, Kind::Interrupted);
}

class RemovingHandler : public HitHandler {
 public:
  RemovingHandler(Debuggee& debuggee, uint64_t site, uint64_t next)
      : debuggee_(debuggee), site_(site), next_(next) {}
  Next on_hit(HitContext& hit) override {
    ++hits[hit.pc()];
    EXPECT_TRUE(debuggee_.target->trace_sites()->remove(hit.pid(), site_).ok());
    EXPECT_TRUE(debuggee_.target->trace_sites()->insert(hit.pid(), next_).ok());
    return Next::Continue;
  }
  Next on_step(HitContext&) override { return Next::Continue; }
  std::map<uint64_t, int> hits;

 private:
  Debuggee& debuggee_;
  uint64_t site_, next_;
};

TEST_P(LinuxSites, HandlersMayChangeTheSites) {
  int untraced = 0;
  run_untraced({"hammer", "2", "20"}, untraced);
  Debuggee one(options());
  one.launch({"hammer", "2", "20"});
  const uint64_t first = one.symbol("site_rip"), second = one.symbol("site_vector");
  RemovingHandler handler(one, first, second);
  one.target->trace_sites()->set_handler(&handler);
  one.site(first);
  const StopEvent end = one.go();
  EXPECT_EQ(end.exit_code, WEXITSTATUS(untraced));
  EXPECT_GE(handler.hits[first], 1);
  EXPECT_GE(handler.hits[second], 20);
}

TEST_P(LinuxSites, HitsShowRegistersAndMemoryWithoutOurPatches) {
  class Looker : public HitHandler {
   public:
    Next on_hit(HitContext& hit) override {
      uint8_t code[2] = {}, bad[2] = {}, tail[2] = {};
      HitContext::Range ranges[3];
      ranges[0] = {hit.pc(), code, 0};
      ranges[1] = {8, bad, 0};
      ranges[2] = {hit.pc(), tail, 0};
      hit.read_memory(ranges);
      EXPECT_EQ(ranges[0].got, 2u);
      EXPECT_EQ(ranges[1].got, 0u);
      EXPECT_EQ(ranges[2].got, 2u);
      EXPECT_EQ(code[0], 0x53);  // push %rbx
      EXPECT_EQ(tail[0], 0x53);
      uint64_t pc = 0, none = 0;
      EXPECT_TRUE(hit.read_register(16, pc));
      EXPECT_EQ(pc, hit.pc());
      EXPECT_FALSE(hit.read_register(40, none));  // xmm0 is wider
      EXPECT_FALSE(hit.read_register(4000, none));
      EXPECT_EQ(load_uint(hit.registers().data() + 128, 8, Endian::Little), pc);
      ++hits;
      return Next::Continue;
    }
    Next on_step(HitContext&) override { return Next::Continue; }
    int hits = 0;
  } looker;
  Debuggee one(options());
  one.launch({"hammer", "1", "3"});
  one.target->trace_sites()->set_handler(&looker);
  one.site(one.symbol("site_push"));
  EXPECT_EQ(one.go().kind, Kind::Exited);
  EXPECT_EQ(looker.hits, 3);
}

TEST_P(LinuxSites, SandboxedProgram) {
  Debuggee one(options());
  one.launch({"sandboxed"});
  one.breakpoint(one.symbol("sandboxed"));
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(one.symbol("sandboxed"));
  const uint64_t work = one.symbol("work");
  one.site(work);
  EXPECT_EQ(one.go().exit_code, 0);
  EXPECT_EQ(one.handler.hits[work], 10u);
}

TEST_P(LinuxSites, WaitsForAnotherThread) {
  Debuggee one(options());
  one.launch({"userfaults", "step"});
  const uint64_t take = one.symbol("take");
  one.site(take);
  const StopEvent end = one.go();
  EXPECT_EQ(end.kind, Kind::Exited);
  if (end.exit_code == 77) GTEST_SKIP() << "no userfaultfd here";
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(one.handler.hits[take], 16u);
}

INSTANTIATE_TEST_SUITE_P(, LinuxSites, testing::Bool(), [](const auto& param) {
  return param.param ? "Copies" : "InPlace";
});

}  // namespace
}  // namespace tracewell::target
