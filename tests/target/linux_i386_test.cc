// Tracepoint sites in 32-bit code: every hit is counted once, and the program computes what it
// computes untraced.
#include <csignal>
#include <string>
#include <vector>

#include <elf.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "target/debuggee.h"
#include "target/hammer.h"

namespace tracewell::target {
namespace {

using Kind = StopEvent::Kind;

const std::vector<std::string> kSites = {
    "site_push", "site_thunk", "site_call",  "site_icall", "site_sp_icall", "site_leaf",
    "site_jcc",  "site_loop",  "site_jecxz", "mix",        "site_inc",      "site_pushf",
    "site_popf", "site_rep",   "site_vector", "site_x87",  "site_int80",    "site_gs_call",
    "site_pop",  "site_ret",
};

uint64_t per_call_32(const std::string& site) {
  return site == "site_loop" ? 5 : site == "mix" ? 3 : 1;
}

/// Both ways past a site: from a copy, and in place.
class LinuxI386Sites : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!runs_32_bit_programs()) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  }
  LinuxOptions options() const { return {.map_memory = GetParam()}; }
};

const Hammer kHammer32 = {"hammer_32", kSites, per_call_32};

TEST_P(LinuxI386Sites, EachKindOfInstruction) {
  for (const std::string& site : kSites) {
    SCOPED_TRACE(site);
    hammer({"hammer_32", {site}, per_call_32}, options(), 1, 5, false);
  }
}

TEST_P(LinuxI386Sites, EveryKindOfInstruction) {
  hammer(kHammer32, options(), 1, GetParam() ? 100 : 20, false);
}

TEST_P(LinuxI386Sites, FourThreadsEverywhere) {
  hammer(kHammer32, options(), 4, GetParam() ? 200 : 8, false);
}

TEST_P(LinuxI386Sites, SignalStorm) {
  hammer(kHammer32, options(), 3, GetParam() ? 300 : 15, true);
}

TEST_P(LinuxI386Sites, SignalStormOneThread) {
  hammer(kHammer32, options(), 1, GetParam() ? 1000 : 50, true);
}

TEST_P(LinuxI386Sites, SystemCallsBlockRestartAndFork) {
  for (const std::string what :
       {"getpid", "read", "ignored", "eintr", "restart", "fork", "vfork", "exit"}) {
    SCOPED_TRACE(what);
    Debuggee one(options());
    one.launch({"syscalls_32", what});
    one.target->signals()->pass_signals({SIGALRM, SIGCHLD});
    const uint64_t site = one.symbol("site_syscall"), after = one.symbol("site_after");
    one.site(site);
    one.site(after);
    const StopEvent end = one.go();
    EXPECT_EQ(end.kind, Kind::Exited);
    EXPECT_EQ(end.exit_code, what == "exit" ? 33 : 0);
    EXPECT_EQ(one.handler.hits[site], 1u);
    EXPECT_EQ(one.handler.hits[after], what == "exit" ? 0 : 1);
  }
}

/// The instructions of the vdso that enter the kernel: one or two.
std::vector<uint64_t> vdso_system_calls(Debuggee& one) {
  auto auxv = one.target->facts()->auxv(one.pid);
  std::vector<uint64_t> result;
  for (size_t at = 0; auxv.ok() && at + 8 <= auxv->size(); at += 8) {
    if (load_uint(&(*auxv)[at], 4, Endian::Little) != AT_SYSINFO) continue;
    const uint64_t entry = load_uint(&(*auxv)[at + 4], 4, Endian::Little);
    uint8_t code[16] = {};
    EXPECT_EQ(one.target->read_memory(one.pid, entry, code), sizeof code);
    for (size_t i = 0; i + 1 < sizeof code; ++i) {
      const bool fast = code[i] == 0x0f && (code[i + 1] == 0x05 || code[i + 1] == 0x34);
      if (fast || (code[i] == 0xcd && code[i + 1] == 0x80)) result.push_back(entry + i);
    }
  }
  return result;
}

TEST_P(LinuxI386Sites, TheVdsosWaysIntoTheKernel) {
  int untraced = 0;
  run_untraced({"hammer_32", "2", "50"}, untraced);
  Debuggee one(options());
  one.launch({"hammer_32", "2", "50", "storm"});
  one.target->signals()->pass_signals({SIGALRM});
  const std::vector<uint64_t> calls = vdso_system_calls(one);
  ASSERT_FALSE(calls.empty());
  for (const uint64_t address : calls) one.site(address);
  one.resume_all();
  EXPECT_EQ(one.wait(60).exit_code, WEXITSTATUS(untraced));
  EXPECT_GE(one.handler.hits[calls[0]], 100u);
}

TEST_P(LinuxI386Sites, WhileSteppingShowsNoTrapFlag) {
  int untraced = 0;
  run_untraced({"hammer_32", "1", "10"}, untraced);
  Debuggee one(options());
  one.launch({"hammer_32", "1", "10"});
  const uint64_t start = one.symbol("site_inc");
  one.site(start);
  one.site(one.symbol("site_gs_call"));
  one.handler.steps_wanted = 12;
  EXPECT_EQ(one.go().exit_code, WEXITSTATUS(untraced));
  EXPECT_EQ(one.handler.hits[start], 10u);
  EXPECT_EQ(one.handler.step_pcs.size(), 10u * 24);
  EXPECT_EQ(one.handler.step_pcs[0], start + 1);
}

TEST_P(LinuxI386Sites, SteppingThroughAllOfIt) {
  int untraced = 0;
  run_untraced({"hammer_32", "1", "2"}, untraced);
  Debuggee one(options());
  one.launch({"hammer_32", "1", "2"});
  std::map<std::string, uint64_t> addresses;
  for (const std::string& site : kSites) one.site(addresses[site] = one.symbol(site));
  const uint64_t start = one.symbol("work");
  one.breakpoint(start);
  ASSERT_EQ(one.go().kind, Kind::Breakpoint);
  one.remove_breakpoint(start);
  const Tid tid = one.told;
  const auto sp = static_cast<uint32_t>(one.register_of(tid, "esp"));
  for (int i = 0; i < 300 && one.register_of(tid, "esp") <= sp; ++i)
    ASSERT_EQ(one.step(tid).kind, Kind::Stepped);
  EXPECT_EQ(one.register_of(tid, "esp"), sp + 4);
  EXPECT_EQ(one.go().exit_code, WEXITSTATUS(untraced));
  for (const std::string& site : kSites)
    EXPECT_EQ(one.handler.hits[addresses[site]], 2 * per_call_32(site)) << site;
}

TEST_P(LinuxI386Sites, ForksThreadsAndNewPrograms) {
  for (const std::string what : {"fork", "vfork", "spawn", "system", "share"}) {
    SCOPED_TRACE(what);
    Debuggee one(options());
    one.launch({"families_32", what});
    one.target->signals()->pass_signals({SIGCHLD});
    one.site(one.symbol("marker"));
    const StopEvent end = one.go();
    EXPECT_EQ(end.kind, Kind::Exited);
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_GE(one.handler.total(), 4u);
  }
  Debuggee one(options());
  one.launch({"churn_32", "20"});
  const uint64_t work = one.symbol("work");
  one.site(work);
  EXPECT_EQ(one.go().exit_code, 0);
  EXPECT_EQ(one.handler.hits[work], 20u * 60);
}

TEST_P(LinuxI386Sites, InstructionsFailAtTheirOwnAddress) {
  fail_at_their_own_address("failing_32", options());
}

TEST_P(LinuxI386Sites, LetGoAtRandomMoments) { let_go_at_random_moments(kHammer32, options()); }

class Looker : public HitHandler {
 public:
  Next on_hit(HitContext& hit) override {
    uint8_t code[2] = {}, word[4] = {};
    HitContext::Range ranges[2];
    ranges[0] = {hit.pc() + (uint64_t{1} << 32), code, 0};
    uint64_t sp = 0, pc = 0, none = 0;
    EXPECT_TRUE(hit.read_register(4, sp));
    EXPECT_TRUE(hit.read_register(8, pc));
    EXPECT_EQ(pc, hit.pc());
    EXPECT_FALSE(hit.read_register(32, none));  // xmm0 is wider
    EXPECT_FALSE(hit.read_register(4000, none));
    ranges[1] = {sp - (uint64_t{3} << 32), word, 0};
    hit.read_memory(ranges);
    EXPECT_EQ(ranges[0].got, 2u);
    EXPECT_EQ(code[0], 0x53);  // push %ebx
    EXPECT_EQ(code[1], 0xe8);
    EXPECT_EQ(ranges[1].got, 4u);
    EXPECT_LT(load_uint(word, 4, Endian::Little) - pc, 4096u);  // where it returns to
    EXPECT_EQ(load_uint(hit.registers().data() + 32, 4, Endian::Little), pc);
    ++hits;
    return Next::Continue;
  }
  Next on_step(HitContext&) override { return Next::Continue; }
  int hits = 0;
};

TEST_P(LinuxI386Sites, HitsShowRegistersAndMemory) {
  Looker looker;
  Debuggee one(options());
  one.launch({"hammer_32", "1", "3"});
  one.target->trace_sites()->set_handler(&looker);
  one.site(one.symbol("site_push"));
  EXPECT_EQ(one.go().kind, Kind::Exited);
  EXPECT_EQ(looker.hits, 3);
}

INSTANTIATE_TEST_SUITE_P(, LinuxI386Sites, testing::Bool(), [](const auto& param) {
  return param.param ? "Copies" : "InPlace";
});

}  // namespace
}  // namespace tracewell::target
