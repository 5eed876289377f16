// What `trace` makes of its words.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hooks/words/session_words.h"

namespace tracewell::hooks::test {
namespace {

class ReadSession : public testing::Test {
 protected:
  ReadSession() {
    std::string name = testing::TempDir() + "words.XXXXXX";
    folder_ = mkdtemp(name.data());
    setenv("TRACEWELL_DEFAULTS", (folder_ + "/trace.conf").c_str(), 1);
    setenv("TRACEWELL_EVENT_GROUPS", (folder_ + "/evgrp").c_str(), 1);
    work_.notice = [this](std::string_view sentence) { told_.emplace_back(sentence); };
    words_.log = folder_ + "/log/";
  }
  ~ReadSession() override {
    unsetenv("TRACEWELL_DEFAULTS");
    unsetenv("TRACEWELL_EVENT_GROUPS");
    std::filesystem::remove_all(folder_);
  }

  Result<SessionOptions> read() {
    BelievedFiles files(work_);
    return read_session(words_, 2, "trace -a", files, work_);
  }
  std::string wrong() {
    const auto session = read();
    return session.ok() ? "" : session.error().message;
  }

  std::string folder_;
  std::vector<std::string> told_;
  Work work_;
  SessionWords words_;
};

TEST_F(ReadSession, TakesWhatIsAskedFor) {
  words_.only = "010,0234";
  words_.only_groups = "facility";
  words_.threads = std::to_string(::getpid());
  words_.propagation = "p";
  words_.cpus = "0";
  words_.message = "a note";
  const auto session = read();
  ASSERT_TRUE(session.ok()) << session.error().message;
  EXPECT_EQ(session->channel, 2u);
  EXPECT_EQ(session->log, folder_ + "/log");
  EXPECT_EQ(session->only->size(), 2u + 16u);
  EXPECT_EQ(session->threads, std::vector<uint32_t>{static_cast<uint32_t>(::getpid())});
  EXPECT_EQ(session->propagation, TRACEWELL_PROPAGATE_PROCESSES);
  EXPECT_EQ(session->cpus, std::vector<uint32_t>{0});
  EXPECT_TRUE(session->record_cpus) << "-C has -p in it";
  EXPECT_EQ(session->facts.at(1).second, "trace -a");
  EXPECT_EQ(session->facts.back().second, "a note");
  EXPECT_TRUE(told_.empty());
}

TEST_F(ReadSession, MakesABufferFitTheLogAndSaysSo) {
  words_.log_size = "1m";
  EXPECT_EQ(read()->buffer_bytes, uint64_t{512} << 10);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0], "a thread's buffer has 512k, not 2m, since two are to fit the log of 1m (-L);"
                      " -L 4m leaves it as it is");
  words_.buffer_size = "1m";
  EXPECT_NE(wrong().find("-T: a buffer has at most half of the log"), std::string::npos);
}

TEST_F(ReadSession, NamesWhatIsWrong) {
  words_.stop_when_full = true;
  EXPECT_NE(wrong().find("-s needs -L"), std::string::npos);
  words_.stop_when_full = false;
  words_.propagation = "t";
  EXPECT_NE(wrong().find("-P needs -A or -t"), std::string::npos);
  words_.threads = "1x";
  EXPECT_NE(wrong().find("-t: '1x' is no number"), std::string::npos);
  words_.only_groups = "mine";
  EXPECT_NE(wrong().find("no event group 'mine'"), std::string::npos);
  words_.log = "-";
  EXPECT_NE(wrong().find("-o -: a log is a folder"), std::string::npos);
}

TEST(CommandText, IsReadBackByAShell) {
  EXPECT_EQ(command_text("tracewell trace", {"-m", "it's", "", "a=b"}),
            "tracewell trace -m 'it'\\''s' '' a=b");
}

TEST(BelievedFiles, TellOnce) {
  int told = 0;
  Work work;
  work.notice = [&](std::string_view) { ++told; };
  BelievedFiles files(work);
  EXPECT_EQ(files.path(std::string("/a")), "/a");
  EXPECT_EQ(files.path(Error{Errc::NotFound, "nothing is there", {}}), std::nullopt);
  EXPECT_EQ(told, 0);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(files.path(Error{Errc::InvalidArgument, "somebody else's", {}}), std::nullopt);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace tracewell::hooks::test
