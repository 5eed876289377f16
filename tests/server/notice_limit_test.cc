#include "server/connection/notice_limit.h"

#include <vector>

#include <gtest/gtest.h>

namespace tracewell::server {
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
  std::vector<std::string> left_out() {
    std::vector<std::string> lines;
    limit.tell_left_out([&](const std::string& line) { lines.push_back(line); });
    return lines;
  }
  NoticeLimit limit{2, 10min};
};

TEST_F(NoticeLimits, TheNextPeriodSaysHowManyAreMissing) {
  EXPECT_EQ(said("a", 1min), std::vector<std::string>{"a"});
  EXPECT_EQ(said("b", 1min), std::vector<std::string>{"b"});
  EXPECT_EQ(said("c", 2min), std::vector<std::string>{"Many connections are being closed: further "
                                                      "ones are not listed for up to 10 minutes; "
                                                      "their number follows then, or when the "
                                                      "server ends"});
  EXPECT_TRUE(said("d", 10min).empty());
  const std::vector<std::string> next{"2 more connections were closed and not listed here",
                                      "e"};
  EXPECT_EQ(said("e", 11min), next);
  EXPECT_EQ(said("f", 11min), std::vector<std::string>{"f"});
}

// Nobody else may ever come.
TEST_F(NoticeLimits, WhatIsMissingCanBeAskedFor) {
  EXPECT_FALSE(limit.due());
  for (const char* text : {"a", "b"}) said(text, 1min);
  EXPECT_FALSE(limit.due());
  EXPECT_TRUE(left_out().empty());
  said("c", 2min);
  EXPECT_EQ(limit.due(), NoticeLimit::Clock::time_point(11min));
  EXPECT_EQ(left_out(), std::vector<std::string>{"1 more connection was closed and not listed "
                                                 "here"});
  EXPECT_FALSE(limit.due());
  EXPECT_TRUE(left_out().empty());
  EXPECT_EQ(said("d", 11min), std::vector<std::string>{"d"}) << "it was told already";
}

TEST_F(NoticeLimits, NothingIsMissingWhereFewWereSaid) {
  EXPECT_EQ(said("a", 1min).size(), 1u);
  EXPECT_EQ(said("b", 30min), std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace tracewell::server
