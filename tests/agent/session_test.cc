// Clients that send too much.
#include "agent/session.h"

#include <string>

#include <gtest/gtest.h>

#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

TEST(Session, InputThatWaitsIsBounded) {
  target::FakeTarget target;
  ASSERT_TRUE(target.describe("process 7").ok());
  Session session(target, nullptr, {});
  session.feed(as_bytes(rsp::frame("c", false)));
  ASSERT_TRUE(session.running());
  for (size_t i = 0; i < Session::kWaitingMax; ++i)
    session.feed(as_bytes(rsp::frame("g", false)));
  EXPECT_FALSE(session.finished());
  session.feed(as_bytes(rsp::frame("g", false)));
  EXPECT_TRUE(session.finished());
}

TEST(Session, PacketsWithoutEndAreRefused) {
  target::FakeTarget target;
  ASSERT_TRUE(target.describe("process 7").ok());
  Session session(target, nullptr, {});
  session.feed(as_bytes(rsp::frame(std::string(Session::kPacketBytesMax + 1, 'm'), false)));
  EXPECT_EQ(session.take_output(), "+$E01#a6");
  session.feed(as_bytes(rsp::frame("c", false)));
  session.feed(as_bytes(rsp::frame(std::string(Session::kPacketBytesMax + 1, 'm'), false)));
  EXPECT_TRUE(session.finished());
}

}  // namespace
}  // namespace tracewell::agent
