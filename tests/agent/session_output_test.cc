// A debugger that asks and does not listen: what waits for it is bounded.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "agent/session/session.h"
#include "base/text/hex.h"
#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

class SessionOutput : public ::testing::Test {
 protected:
  SessionOutput() {
    const std::string memory(2 * 4096, 'a');
    for (const std::string& line :
         {std::string("process 7"), std::string("thread 7.7 main"), "mem 7 1000 " + memory})
      EXPECT_TRUE(target_.learn(line).ok());
    session_ = std::make_unique<Session>(target_, nullptr, SessionOptions{});
  }
  void feed(std::string_view text) { session_->feed(as_bytes(text)); }

  target::FakeTarget target_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionOutput, ANakIsAnsweredOncePerAnswer) {
  feed(rsp::frame("m1000,800", false));
  const std::string reply = session_->take_output();
  ASSERT_GT(reply.size(), 8u);
  feed(std::string(60000, '-'));
  EXPECT_EQ(session_->take_output(), reply.substr(1));  // without the '+'
  feed("-");
  EXPECT_EQ(session_->take_output(), reply.substr(1));
}

TEST_F(SessionOutput, PausesUntilItIsTakenAndLosesNothing) {
  feed(rsp::frame("m1000,800", false));
  const std::string once = session_->take_output();
  const size_t asked = 4 * Session::kOutputBytesMax / once.size() + 7;
  std::string all;
  for (size_t i = 0; i < asked; ++i) all += rsp::frame("m1000,800", false);
  feed(all);
  std::string taken;
  do {
    const std::string some = session_->take_output();
    EXPECT_LE(some.size(), Session::kOutputBytesMax + once.size());
    taken += some;
  } while (session_->proceed());
  EXPECT_EQ(taken.size(), asked * once.size());
}

/// Remarks may have names in them that a program chose.
TEST_F(SessionOutput, WhatGdbPrintsActsOnNoTerminal) {
  session_->console("lib\033]0;x\007.so:\ta\n");
  EXPECT_EQ(session_->take_output(),
            rsp::frame("O" + to_hex(as_bytes("lib\\x1b]0;x\\x07.so:\ta\n")), false));
}

}  // namespace
}  // namespace tracewell::agent
