#include "cli/notice_limit.h"

#include <vector>

#include <gtest/gtest.h>

namespace tracewell::cli {
namespace {

using namespace std::chrono_literals;

class NoticeLimits : public ::testing::Test {
 protected:
  std::vector<std::string> said(const std::string& text, NoticeLimit::Clock::duration at) {
    std::vector<std::string> lines;
    limit.say(text, [&](const std::string& line) { lines.push_back(line); },
              NoticeLimit::Clock::time_point(at));
    return lines;
  }
  NoticeLimit limit{2, 10min};
};

TEST_F(NoticeLimits, TheNextPeriodSaysHowManyAreMissing) {
  EXPECT_EQ(said("a", 1min), std::vector<std::string>{"a"});
  EXPECT_EQ(said("b", 1min), std::vector<std::string>{"b"});
  EXPECT_EQ(said("c", 2min), std::vector<std::string>{"Many connections are being closed: the next "
                                                      "ones are only counted, for at most 10 "
                                                      "minutes"});
  EXPECT_TRUE(said("d", 10min).empty());
  const std::vector<std::string> next{"2 more connections were closed that are not listed here",
                                      "e"};
  EXPECT_EQ(said("e", 11min), next);
  EXPECT_EQ(said("f", 11min), std::vector<std::string>{"f"});
}

TEST_F(NoticeLimits, NothingIsMissingWhereFewWereSaid) {
  EXPECT_EQ(said("a", 1min).size(), 1u);
  EXPECT_EQ(said("b", 30min), std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace tracewell::cli
