// A program that forks gives its breakpoints to each child: without end, were it not bounded.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/session/session.h"
#include "base/text/hex.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

class ForkBounds : public ::testing::Test {
 protected:
  static constexpr uint64_t kCode = 0x401000, kCodeBytes = 0x1000;

  ForkBounds() {
    for (const std::string& line :
         {std::string("process 7"),
          fmt::format("mem 7 {:x} {}", kCode, to_hex(std::vector<uint8_t>(kCodeBytes, 0x90)))})
      EXPECT_TRUE(target_.learn(line).ok());
    SessionOptions options;
    options.notice = [this](std::string_view line) { notices_.emplace_back(line); };
    session_ = std::make_unique<Session>(target_, nullptr, options);
    (void)ask("QStartNoAckMode");
    (void)ask("qSupported:multiprocess+;fork-events+;vfork-events+");
  }
  ~ForkBounds() override { session_.reset(); }

  /// The last thing that it says.
  std::string ask(std::string_view packet) {
    session_->feed(as_bytes(rsp::frame(packet, false)));
    return said();
  }
  std::string said() {
    std::string last = "(none)";
    rsp::Decoder decoder(rsp::Sender::Stub);
    decoder.feed(session_->take_output());
    while (const auto item = decoder.next()) {
      if (item->kind != rsp::Item::Kind::Packet) continue;
      last = item->payload;
      if (last.starts_with("O") && last != "OK") console_ += *text_from_hex(last.substr(1));
    }
    return last;
  }
  std::string happens(std::string_view what) {
    (void)ask("vCont;c");
    const auto event = target_.event(what);
    EXPECT_TRUE(event.ok() && *event) << what;
    session_->on_event(**event);
    return said();
  }
  void insert(uint64_t count, std::string_view rest) {
    for (uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(ask(fmt::format("Z0,{:x},1{}", kCode + i, rest)), "OK") << i;
  }
  size_t removed() {
    size_t count = 0;
    for (const std::string& call : target_.take_calls()) count += call.starts_with("remove ");
    return count;
  }

  target::FakeTarget target_;
  std::vector<std::string> notices_;
  std::string console_;
  std::unique_ptr<Session> session_;
};

/// Pieces of a condition: const8 0, pop, again and again, then 1.
std::string long_condition(size_t pairs, int last) {
  std::string hex;
  for (size_t i = 0; i < pairs; ++i) hex += "220029";
  hex += fmt::format("22{:02x}27", last);
  return fmt::format(";X{:x},{}", hex.size() / 2, hex);
}

TEST_F(ForkBounds, ConditionsOfChildrenAreTheParents) {
  std::string conditions;  // 60 KiB
  for (int i = 0; i < 15; ++i) {
    const std::string one = long_condition(1360, i);
    conditions += i == 0 ? one : one.substr(1);
  }
  insert(20, conditions);
  for (int child = 100; child < 150; ++child)
    ASSERT_TRUE(happens(fmt::format("7.7 fork {}", child)).starts_with("T05fork"));
  EXPECT_TRUE(notices_.empty()) << notices_.front();
  // All that is kept is 1 MiB of the 16 that may be; a debugger may say it again for the child.
  EXPECT_EQ(ask(fmt::format("Z0,{:x},1{}", kCode + 20, conditions)), "OK");
  EXPECT_EQ(ask("Hgp64.0"), "OK");
  insert(20, conditions);
  // Each can be changed, and goes, alone.
  ASSERT_EQ(ask(fmt::format("Z0,{:x},1;X3,220027", kCode)), "OK");
  ASSERT_EQ(ask(fmt::format("z0,{:x},1", kCode + 1)), "OK");
  for (const auto& [pid, shown] : {std::pair(100, false), std::pair(101, true)}) {
    (void)ask("vCont;c");
    const auto event = target_.event(fmt::format("{0}.{0} trap {1:x}", pid, kCode));
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(event->has_value(), shown) << pid;
    if (*event) session_->on_event(**event);
  }
}

TEST_F(ForkBounds, ChildrenHaveNoBreakpointsPastTheBound) {
  for (const std::string rest : {"", ";X3,220127"}) {
    constexpr uint64_t kEach = 4000;
    ASSERT_EQ(ask("Hgp7.7"), "OK");
    insert(kEach, rest);
    const uint64_t fit = Session::kBreakpointsMax / kEach - 1;
    for (uint64_t i = 0; i < fit; ++i) (void)happens(fmt::format("7.7 fork {}", 100 + i));
    EXPECT_EQ(removed(), 0u);
    EXPECT_TRUE(notices_.empty()) << notices_.front();
    // The debugger's user and the server's are told, and the child's memory is as it should be.
    EXPECT_TRUE(happens("7.7 fork 99").starts_with("T05fork:p63.63"));
    EXPECT_EQ(removed(), kEach);
    ASSERT_EQ(notices_.size(), 1u);
    EXPECT_EQ(notices_[0].find("Process 99, a child of 7, has none of its breakpoints: "), 0u);
    EXPECT_EQ(console_, notices_[0] + "\n");
    // What ends makes room.
    (void)happens("100.100 exited 0");
    (void)happens("7.7 fork 98");
    EXPECT_EQ(removed(), 0u);
    EXPECT_EQ(notices_.size(), 2u) << notices_.back();  // the end of 100
    for (uint64_t i = 1; i < fit; ++i) (void)happens(fmt::format("{0}.{0} exited 0", 100 + i));
    for (const int pid : {98, 99}) (void)happens(fmt::format("{0}.{0} exited 0", pid));
    notices_.clear();
    console_.clear();
  }
}

/// They are in the parent's memory, and stay.
TEST_F(ForkBounds, AfterVforkTheyStay) {
  insert(4000, ";X3,220127");
  for (uint64_t i = 0; i < Session::kBreakpointsMax / 4000; ++i)
    (void)happens(fmt::format("7.7 vfork {}", 100 + i));
  EXPECT_EQ(removed(), 0u);
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_NE(notices_[0].find("has its breakpoints without conditions and commands: there are "),
            std::string::npos)
      << notices_[0];
}

}  // namespace
}  // namespace tracewell::agent
