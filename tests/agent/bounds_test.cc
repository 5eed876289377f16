// What a debugger may leave with us, packet by packet, is bounded, and it is told the bound.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/engine/engine.h"
#include "agent/engine/experiment_bounds.h"
#include "agent/session/session.h"
#include "agent/shared/process_packets.h"
#include "base/text/hex.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

class Bounds : public ::testing::Test {
 protected:
  Bounds() {
    for (const std::string line : {"process 7", "thread 7.7 main", "reg 7.7 rip 401000",
                                   "mem 7 401000 90909090909090909090909090909090 ro"})
      EXPECT_TRUE(target_.learn(line).ok());
    engine_ = std::make_unique<Engine>(target_);
    session_ = std::make_unique<Session>(target_, engine_.get(), SessionOptions{});
    EXPECT_EQ(ask("QStartNoAckMode"), "OK");
    EXPECT_EQ(ask("QTinit"), "OK");
  }
  ~Bounds() override { session_.reset(); }

  std::string ask(std::string_view packet) {
    session_->feed(as_bytes(rsp::frame(packet, false)));
    std::string reply = session_->take_output();
    std::erase(reply, '+');
    rsp::Decoder decoder(rsp::Sender::Stub);
    decoder.feed(reply);
    const auto item = decoder.next();
    return item ? item->payload : "(none)";
  }
  /// Asks until it is refused, or `most` times; the refusal, or "".
  template <class Packet>
  std::string refusal(size_t most, const Packet& packet) {
    for (size_t i = 0; i < most; ++i)
      if (std::string reply = ask(packet(i)); reply != "OK") return reply;
    return "";
  }

  target::FakeTarget target_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Session> session_;
};

constexpr size_t kPacket = 60000;  // hex digits

TEST_F(Bounds, TextsOfTracepoints) {
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0"), "OK");
  const std::string text(kPacket / 2, 'a'), hex = to_hex(text);
  const size_t enough = ExperimentBounds::kDefinitionBytes / text.size() + 2;
  const auto fresh = [&](size_t) {
    return fmt::format("QTDPsrc:1:401000:cmd:0:{:x}:{}", text.size(), hex);
  };
  const std::string refused = refusal(enough, fresh);
  EXPECT_NE(refused.find("32 MiB"), std::string::npos) << refused;
  // One text that goes on and on is no way around it.
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0"), "OK") << "defined anew, it is small again";
  const std::string endless = refusal(enough, [&](size_t i) {
    return fmt::format("QTDPsrc:1:401000:cmd:{:x}:ffffffff:{}", i * text.size(), hex);
  });
  EXPECT_NE(endless.find("32 MiB"), std::string::npos) << endless;
  // What is gone makes room.
  ASSERT_EQ(ask("QTinit"), "OK");
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0"), "OK");
  EXPECT_EQ(ask(fresh(0)), "OK");
}

TEST_F(Bounds, ActionsOfTracepoints) {
  const std::string actions(kPacket, 'L');
  const size_t enough = ExperimentBounds::kDefinitionBytes / actions.size() + 2;
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0-"), "OK");
  const std::string refused =
      refusal(enough, [&](size_t) { return "QTDP:-1:401000:" + actions + "-"; });
  EXPECT_NE(refused.find("32 MiB"), std::string::npos) << refused;
  EXPECT_TRUE(engine_->tracepoints().empty()) << "it would not collect what was asked for";
  // Those that are not live yet count as well.
  ASSERT_EQ(ask("QTDP:2:401001:E:0:0"), "OK");
  ASSERT_EQ(ask("QTStart"), "OK");
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0-"), "OK");
  const std::string live =
      refusal(enough, [&](size_t) { return "QTDP:-1:401000:" + actions + "-"; });
  EXPECT_NE(live.find("32 MiB"), std::string::npos) << live;
  EXPECT_EQ(engine_->tracepoints().size(), 1u);
}

TEST_F(Bounds, Tracepoints) {
  const std::string refused = refusal(ExperimentBounds::kTracepoints + 1, [](size_t i) {
    return fmt::format("QTDP:1:{:x}:E:0:0", 0x1000 + i);
  });
  EXPECT_NE(refused.find("32768 locations"), std::string::npos) << refused;
  EXPECT_EQ(ask("QTDP:1:1000:E:0:0"), "OK") << "one that is there may be defined anew";
}

TEST_F(Bounds, TraceStateVariables) {
  const std::string name(ExperimentBounds::kVariableName + 1, 'v');
  const std::string refused = ask("QTDV:5:0:0:" + to_hex(name));
  EXPECT_NE(refused.find("1024 bytes"), std::string::npos) << refused;
  EXPECT_EQ(ask("QTDV:5:0:0:" + to_hex(name.substr(1))), "OK");
}

TEST_F(Bounds, TheEnvironmentOfPrograms) {
  const auto set = [](const std::string& text) {
    return "QEnvironmentHexEncoded:" + to_hex(text);
  };
  const std::string value(kPacket / 2, 'x');
  const std::string large =
      refusal(100, [&](size_t i) { return set(fmt::format("n{}={}", i, value)); });
  EXPECT_NE(large.find("1024 KiB"), std::string::npos) << large;
  const size_t kept = session_->options.launch.environment_set.size();
  EXPECT_EQ(ask(set("n0=" + value)), "OK") << "in place of the old one there is room";
  EXPECT_NE(ask(set("n0=" + value + value)).find("1024 KiB"), std::string::npos);
  EXPECT_EQ(session_->options.launch.environment_set.size(), kept) << "refused: as it was";
  ASSERT_EQ(ask("QEnvironmentReset"), "OK");
  const std::string many = refusal(kEnvironmentMax + 1, [&](size_t i) {
    return i % 2 == 0 ? set(fmt::format("n{}=", i))
                      : "QEnvironmentUnset:" + to_hex(fmt::format("n{}", i));
  });
  EXPECT_NE(many.find("4096 variables"), std::string::npos) << many;
}

TEST_F(Bounds, BreakpointCommands) {
  // const8 1, end: as often as a packet has room for.
  std::string conditions;
  while (conditions.size() < kPacket) conditions += "X3,220127";
  // A code takes more room than its bytes.
  const size_t enough = BreakpointPrograms::kBytesMax / (kPacket / 8 * 3) + 2;
  ASSERT_TRUE(target_.learn("mem 7 500000 " + std::string(2 * enough, '9') + " ro").ok());
  const auto packet = [&](size_t i) {
    return fmt::format("Z0,{:x},1;{}", 0x401000 + i % 16, conditions);
  };
  ASSERT_EQ(refusal(64, packet), "") << "the same ones again take no more room";
  const auto insert = [&](size_t i) {
    return fmt::format("Z0,{:x},1;{}", 0x500000 + i, conditions);
  };
  const std::string refused = refusal(enough, insert);
  EXPECT_NE(refused.find("16 MiB"), std::string::npos) << refused;
}

/// A tracepoint of which any packet is refused is gone, whatever was wrong with it.
TEST_F(Bounds, ARefusedTracepointIsForgotten) {
  for (const std::string_view bad : {"R", "X0,", "X1,00", "Mzz", "Q", "", "X4,220127"}) {
    ASSERT_EQ(ask("QTDP:1:401000:E:0:0-"), "OK");
    ASSERT_EQ(engine_->tracepoints().size(), 1u);
    const std::string reply = ask(fmt::format("QTDP:-1:401000:{}", bad));
    EXPECT_TRUE(reply.starts_with("E.")) << bad << ": " << reply;
    EXPECT_TRUE(engine_->tracepoints().empty()) << bad;
  }
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0-"), "OK");
  EXPECT_TRUE(ask("QTDP:1:401000:E:0:0:X1,00").starts_with("E."));
  EXPECT_TRUE(engine_->tracepoints().empty()) << "nor does an older one stay in its place";
  // Another one is not touched.
  ASSERT_EQ(ask("QTDP:1:401000:E:0:0"), "OK");
  EXPECT_TRUE(ask("QTDP:-2:401000:R").starts_with("E."));
  EXPECT_TRUE(ask("QTDP:nonsense").starts_with("E."));
  EXPECT_EQ(engine_->tracepoints().size(), 1u);
}

TEST_F(Bounds, AnswersThatTheManualKnows) {
  EXPECT_EQ(ask("qTP:1:401000"), "V0:0") << "nobody has defined it";
  EXPECT_TRUE(ask("qTP:1").starts_with("E."));
  const std::string reply = ask("QTSave:zz");
  EXPECT_NE(reply.find("not hexadecimal"), std::string::npos) << reply;
}

}  // namespace
}  // namespace tracewell::agent
