// Clients that send too much.
#include "agent/session/session.h"

#include <string>

#include <gtest/gtest.h>

#include "rsp/framing.h"
#include "target/fake/fake_target.h"

namespace tracewell::agent {
namespace {

TEST(Session, InputThatWaitsIsBounded) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
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
  ASSERT_TRUE(target.learn("process 7").ok());
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
    ASSERT_TRUE(target.learn("process 7").ok());
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
      ASSERT_TRUE(target.learn("process 7").ok());
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
  ASSERT_TRUE(target.learn("process 7").ok());
  SessionOptions options;
  options.refuse_junk = true;
  Session session(target, nullptr, options);
  session.feed(as_bytes(rsp::frame("g", false)));
  const std::string said = session.take_output();
  EXPECT_TRUE(said.starts_with("+$E.")) << said;
  EXPECT_NE(said.find("qSupported:"), std::string::npos) << said;
  EXPECT_TRUE(session.finished());
}

/// A target without a debugger, whose breakpoint commands go on; and one who is none.
TEST(Session, WhoIsNoDebuggerChangesNothing) {
  for (const std::string_view end : {" / HTTP/1.1\r\n\r\n", "$k#6b", ""}) {
    target::FakeTarget target;
    ASSERT_TRUE(target.learn("process 7").ok());
    ASSERT_TRUE(target.learn("mem 7 401136 5548").ok());
    SessionOptions options;
    options.refuse_junk = true;
    {
      Session debugger(target, nullptr, options);
      debugger.feed(as_bytes(rsp::frame("QCatchSyscalls:1", false)));
      debugger.feed(as_bytes(
          rsp::frame("Z0,401136,1;cmds:1,Xd,22002200340000046f6e650027", false)));
      debugger.on_disconnect(true);
      ASSERT_TRUE(debugger.commands_alone());
      options.programs = debugger.options.programs;
    }
    (void)target.take_calls();
    size_t debuggers = 0;
    Session stranger(target, nullptr, options);
    stranger.on_debugger = [&] { ++debuggers; };
    for (const std::string_view word : {"QStartNoAckMode", "qSupported", "qC", "Hg0", "!"})
      stranger.feed(as_bytes(rsp::frame(word, false)));
    stranger.feed(as_bytes("\x03"));
    EXPECT_NE(stranger.take_output().find("$QC"), std::string::npos);
    stranger.feed(as_bytes(end));
    EXPECT_EQ(stranger.finished(), !end.empty());
    EXPECT_EQ(stranger.broken(), !end.empty());
    EXPECT_TRUE(stranger.in_doubt());
    EXPECT_EQ(debuggers, 0u);
    EXPECT_EQ(target.take_calls(), std::vector<std::string>());
    EXPECT_TRUE(options.programs->any_persists());
  }
}

/// What the one before has left is taken away, and only then the first packet is obeyed.
TEST(Session, DoubtEndsBeforeTheFirstPacketIsObeyed) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  ASSERT_TRUE(target.learn("mem 7 401136 5548").ok());
  SessionOptions options;
  options.refuse_junk = true;
  Session debugger(target, nullptr, options);
  std::string order;
  debugger.on_debugger = [&] {
    for (const std::string& call : target.take_calls()) order += call + "|";
    order += "here|";
  };
  debugger.feed(as_bytes("\x03" + rsp::frame("Hc-1", false)));
  EXPECT_EQ(order, "");
  debugger.feed(as_bytes(rsp::frame("Z0,401136,1", false) + rsp::frame("?", false)));
  for (const std::string& call : target.take_calls()) order += call + "|";
  EXPECT_EQ(order, "here|interrupt|insert 7 software 401136 1|");
  EXPECT_FALSE(debugger.in_doubt());
}

/// Nobody is obeyed whose target could not be stopped.
TEST(Session, WhoIsTurnedAwayAsDoubtEndsIsNotObeyed) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  SessionOptions options;
  options.refuse_junk = true;
  Session debugger(target, nullptr, options);
  debugger.on_debugger = [&] { debugger.finish(); };
  debugger.feed(as_bytes(rsp::frame("vKill;7", false)));
  EXPECT_EQ(target.processes().size(), 1u);
  EXPECT_EQ(target.take_calls(), std::vector<std::string>());
}

/// There is no reply to say it in; and the debugger has not said goodbye.
TEST(Session, ATargetThatFailsInNonStopIsNoGoodbye) {
  target::FakeTarget target;
  ASSERT_TRUE(target.learn("process 7").ok());
  SessionOptions options;
  std::string said;
  options.notice = [&](std::string_view line) { said += line; };
  Session session(target, nullptr, options);
  session.feed(as_bytes(rsp::frame("QNonStop:1", false)));
  ASSERT_TRUE(session.non_stop.on);
  session.on_target_error({Errc::Target, "no way", {}});
  EXPECT_EQ(said, "no way");
  EXPECT_TRUE(session.finished());
  EXPECT_TRUE(session.broken());
}

}  // namespace
}  // namespace tracewell::agent
