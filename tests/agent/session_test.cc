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

/// A browser's request may begin with what is a packet; what comes behind it is not looked at.
TEST(Session, JunkEndsAConnectionThatOthersThanDebuggersMayMake) {
  for (const bool refuse : {false, true}) {
    target::FakeTarget target;
    ASSERT_TRUE(target.describe("process 7").ok());
    SessionOptions options;
    options.refuse_junk = refuse;
    std::string said;
    options.notice = [&](std::string_view line) { said += line; };
    Session session(target, nullptr, options);
    session.feed(as_bytes(rsp::frame("qC", false)));
    const std::string first = session.take_output();
    EXPECT_TRUE(first.starts_with("+$QC")) << first;
    session.feed(as_bytes(" / HTTP/1.1\r\n\r\n" + rsp::frame("qC", false)));
    EXPECT_EQ(session.take_output(), refuse ? "" : first);
    EXPECT_EQ(session.finished(), refuse);
    EXPECT_EQ(said.empty(), !refuse) << said;
  }
}

}  // namespace
}  // namespace tracewell::agent
