// What a live server's user asks for, by the words behind the options, and what is wrong with it.
#include <unistd.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/live/request.h"

namespace tracewell::server {
namespace {

using Words = std::vector<std::string>;

Result<LiveRequest> asked(const Words& words, LiveRequest request = {}) {
  TW_RETURN_IF_ERROR(take_words(words, request));
  return request;
}

TEST(LiveRequest, HasAProgramAndItsWords) {
  const auto request = asked({":1", "prog", "--once", "-x", "--", "--attach", "a b"});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->comm, ":1");
  EXPECT_EQ(request->launch.argv, (Words{"prog", "--once", "-x", "--", "--attach", "a b"}));
  EXPECT_FALSE(request->attach);
  LiveRequest multi;
  multi.multi = true;
  EXPECT_TRUE(asked({":1"}, multi)->launch.argv.empty());
  EXPECT_FALSE(asked({":1"}).ok());
  EXPECT_EQ(asked({}, multi).error().message, "COMM is missing");
  EXPECT_NE(asked({"/proc/self/exe"}).error().message.find("COMM is missing: where the debugger"),
            std::string::npos);
}

TEST(LiveRequest, HasAProcess) {
  LiveRequest attach;
  attach.attach = true;
  EXPECT_EQ(asked({":1", "4711"}, attach)->pid, 4711);
  const auto old = asked({":1", "--attach", "4711"});
  ASSERT_TRUE(old.ok());
  EXPECT_TRUE(old->attach);
  EXPECT_EQ(old->pid, 4711);
  for (const Words& words : {Words{":1"}, Words{":1", "0"}, Words{":1", "1", "2"},
                             Words{":1", "99999999999"}, Words{}})
    EXPECT_FALSE(asked(words, attach).ok());
  LiveRequest running;
  running.attach_running = true;
  EXPECT_TRUE(asked({":1", "4711"}, running)->attach);
  EXPECT_NE(asked({":1"}, running).error().message.find("--attach-running takes"),
            std::string::npos);
}

TEST(LiveRequest, PacketsToDisableMustBeKnown) {
  const auto disabled = [](const std::string& names) -> Result<LiveRequest> {
    LiveRequest out;
    TW_RETURN_IF_ERROR(disable_packets(names, out));
    return out;
  };
  using Names = std::set<std::string, std::less<>>;
  EXPECT_EQ(disabled("threads,T,")->disabled,
            (Names{"vCont", "Tthread", "qC", "qfThreadInfo", "Tstop"}));
  EXPECT_EQ(disabled("qXfer:threads:read,QTSave,vCont")->disabled,
            (Names{"qXfer:threads:read", "QTSave", "vCont"}));
  EXPECT_TRUE(disabled("")->disabled.empty());
  for (const char* names : {"bogus", "qC,bogus", "vCont;", "qc", "Tstop"}) {
    const auto refused = disabled(names);
    ASSERT_FALSE(refused.ok()) << names;
    for (const char* word : {"--disable-packet", "'", " threads ", " QTSave ", " vCont "})
      EXPECT_NE(refused.error().message.find(word), std::string::npos) << word;
  }
}

/// Before anything is opened, started or listened to.
TEST(LiveRequest, IsCheckedFirst) {
  const auto wrong = [](const LiveRequest& request) {
    const auto served = serve_request(request, STDERR_FILENO);
    return served.ok() ? "" : served.error().message;
  };
  LiveRequest request;
  request.debug_format = "colour";
  EXPECT_EQ(wrong(request), "--debug-format: none, timestamp or all");
  request.debug_format = "none";
  request.save_dir = "/proc/self/exe";
  EXPECT_TRUE(wrong(request).starts_with("--save-dir: "));
  request.save_dir = "";
  request.comm = "nothing";
  EXPECT_NE(wrong(request), "");
}

}  // namespace
}  // namespace tracewell::server
