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
    session.feed(as_bytes(rsp::frame("?", false)));
    (void)session.take_output();
    session.feed(as_bytes(rsp::frame("qC", false)));
    const std::string first = session.take_output();
    EXPECT_TRUE(first.starts_with("+$QC")) << first;
    session.feed(as_bytes(" / HTTP/1.1\r\n\r\n" + rsp::frame("qC", false)));
    EXPECT_EQ(session.take_output(), refuse ? "" : first);
    EXPECT_EQ(session.finished(), refuse);
    EXPECT_EQ(said.empty(), !refuse) << said;
  }
}

/// Checksums are compared until a debugger has spoken, and the words that a page may say change
/// nothing but the connection.
TEST(Session, NothingOfARequestIsObeyed) {
  const std::string quiet = rsp::frame("QStartNoAckMode", false);
  for (const std::string& text :
       {quiet + "$ / HTTP/1.1\r\n\r\n#00$k#6b", quiet + "$k#00", quiet + "$k#6b",
        std::string("$k#6b"),
        quiet + "$x$k#6b", rsp::frame("Hc-1", false) + "\r\n$k#6b", quiet + "$c#63"}) {
    for (const size_t piece : {size_t{1}, text.size()}) {
      target::FakeTarget target;
      ASSERT_TRUE(target.describe("process 7").ok());
      SessionOptions options;
      options.refuse_junk = true;
      std::string said, log;
      options.notice = [&](std::string_view line) { said += line; };
      options.log_packet = [&](bool received, std::string_view packet) {
        if (received) log += std::string(packet) + "|";
      };
      Session session(target, nullptr, options);
      for (size_t at = 0; at < text.size(); at += piece)
        session.feed(as_bytes(std::string_view(text).substr(at, piece)));
      EXPECT_TRUE(session.finished()) << text;
      EXPECT_FALSE(session.server_exit()) << text;
      EXPECT_FALSE(session.running()) << text;
      EXPECT_EQ(target.processes().size(), 1u) << text;
      EXPECT_TRUE(log.empty() || log == "QStartNoAckMode|" || log == "Hc-1|") << log;
      EXPECT_NE(said, "");
    }
  }
}

TEST(Session, APacketThatComesTooSoonIsAnsweredWithTheReason) {
  target::FakeTarget target;
  ASSERT_TRUE(target.describe("process 7").ok());
  SessionOptions options;
  options.refuse_junk = true;
  Session session(target, nullptr, options);
  session.feed(as_bytes(rsp::frame("g", false)));
  const std::string said = session.take_output();
  EXPECT_TRUE(said.starts_with("+$E.")) << said;
  EXPECT_NE(said.find("qSupported:"), std::string::npos) << said;
  EXPECT_TRUE(session.finished());
}

}  // namespace
}  // namespace tracewell::agent
