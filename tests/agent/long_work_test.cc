// Packets whose answers take long: Ctrl-C, and the end of debugger or server, are heard meanwhile.
#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "agent/session/session.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

/// A process all of whose memory is zeros; but not for ever, so that a search that nobody ends
/// fails instead of going on.
class EndlessTarget final : public target::Target {
 public:
  static constexpr uint64_t kReadsMax = 1000;
  uint64_t reads = 0;
  std::function<void()> on_read;

  EndlessTarget() { EXPECT_TRUE(facts_.learn("process 7").ok()); }
  std::vector<target::ProcessInfo> processes() const override { return facts_.processes(); }
  std::vector<target::ThreadInfo> threads(target::Pid pid) const override {
    return facts_.threads(pid);
  }
  const RegisterLayout& layout(target::Pid pid) const override { return facts_.layout(pid); }
  const std::string& target_description(target::Pid pid) const override {
    return facts_.target_description(pid);
  }
  Status read_registers(target::Tid, std::span<uint8_t>) override { return {}; }
  Status write_registers(target::Tid, Bytes) override { return {}; }
  size_t read_memory(target::Pid, uint64_t, std::span<uint8_t> into) override {
    if (++reads > kReadsMax) return 0;
    std::ranges::fill(into, 0);
    if (on_read) on_read();
    return into.size();
  }
  Status write_memory(target::Pid, uint64_t, Bytes) override { return {}; }
  Status resume(std::span<const target::ResumeAction>) override { return {}; }
  Result<std::optional<target::StopEvent>> wait() override {
    return std::optional<target::StopEvent>();
  }
  Status interrupt() override {
    ++interrupts;
    return {};
  }
  target::ProcessFacts* facts() override { return facts_.facts(); }
  int interrupts = 0;

 private:
  target::FakeTarget facts_;
};

/// Of the address space, all but the last page.
const std::string kLongOnes[] = {"qSearch:memory:0;fffffffffffff000;abcd",
                                 "qCRC:0,fffffffffffff000"};

std::string ask(Session& session, const std::string& packet, std::string_view behind = "") {
  session.feed(as_bytes(rsp::frame(packet, false) + std::string(behind)));
  std::string all;
  do {
    all += session.take_output();
  } while (session.proceed());
  return all;
}

TEST(LongWork, EndsAtCtrlC) {
  for (const std::string& packet : kLongOnes) {
    // It came with the packet, or comes while that is being answered; here, at the eighth read.
    for (const uint64_t when : {0, 8}) {
      EndlessTarget target;
      SessionOptions options;
      options.look_up = [&](bool) -> std::optional<std::string> {
        return when != 0 && target.reads == when ? "+\x03" : "";
      };
      Session session(target, nullptr, options);
      const std::string said = ask(session, packet, when == 0 ? "\x03" : "");
      EXPECT_TRUE(said.starts_with("+$E.interrupted#")) << said;
      EXPECT_EQ(target.reads, when) << packet;
      EXPECT_EQ(target.interrupts, 0) << "it has done its work";
      EXPECT_EQ(ask(session, "m0,1"), "+$00#60");
    }
  }
}

TEST(LongWork, EndsWithTheConnection) {
  for (const std::string& packet : kLongOnes) {
    EndlessTarget target;
    SessionOptions options;
    options.look_up = [&](bool) -> std::optional<std::string> {
      if (target.reads < 3) return "";
      return std::nullopt;
    };
    Session session(target, nullptr, options);
    const std::string said = ask(session, packet);
    EXPECT_TRUE(said.starts_with("+$E.")) << said;
    EXPECT_EQ(target.reads, 3u) << packet;
    // Nor does what it has sent before take long.
    EXPECT_TRUE(ask(session, packet).starts_with("+$E."));
    EXPECT_EQ(target.reads, 3u) << packet;
  }
}

TEST(LongWork, EndsWithTheServer) {
  for (const std::string& packet : kLongOnes) {
    EndlessTarget target;
    target.facts()->give_up = [&] { return target.reads >= 3; };
    Session session(target, nullptr, {});
    const std::string said = ask(session, packet);
    EXPECT_TRUE(said.starts_with("+$E.")) << said;
    EXPECT_EQ(target.reads, 3u) << packet;
  }
}

/// One that is soon answered is; but not thousands of them.
TEST(LongWork, ManyShortOnesAreLong) {
  EndlessTarget target;
  SessionOptions options;
  options.look_up = [](bool) { return std::nullopt; };
  Session session(target, nullptr, options);
  for (int i = 0; i < 100; ++i) (void)ask(session, "qCRC:0,1000");
  EXPECT_LT(target.reads, 20u);
  EXPECT_GT(target.reads, 10u);
}

/// What comes meanwhile is not lost, stays in order, and is bounded.
TEST(LongWork, OtherPacketsHaveTheirTurn) {
  EndlessTarget target;
  SessionOptions options;
  std::string waiting = "-" + rsp::frame("m0,1", false) + "\x03" + rsp::frame("qC", false);
  size_t given = 0, refused = 0;
  options.look_up = [&](bool more) -> std::optional<std::string> {
    if (!waiting.empty()) return std::exchange(waiting, {});
    // Here is a client that sends and sends.
    refused += more ? 0 : 1;
    const std::string flood(more ? size_t{1} << 19 : 0, '+');
    given += flood.size();
    return flood;
  };
  Session session(target, nullptr, options);
  const std::string said = ask(session, "qSearch:memory:0;2000000;abcd");
  EXPECT_EQ(said, "+$0#30+$00#60+$QC7#cb");
  EXPECT_EQ(target.interrupts, 1);
  EXPECT_LE(given, size_t{1} << 20);
  EXPECT_GT(refused, 0u);
}

/// Hours, where the time grows with the pattern.
TEST(LongWork, LongPatternsTakeNoLonger) {
  EndlessTarget target;
  Session session(target, nullptr, {});
  std::string bytes(60000, '\0');
  bytes += 'x';
  EXPECT_EQ(ask(session, "qSearch:memory:0;3000000;" + bytes), "+$0#30");
}

}  // namespace
}  // namespace tracewell::agent
