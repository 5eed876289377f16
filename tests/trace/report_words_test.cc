// The lists and settings of a report, as AIX spells them.
#include "trace/reports/report_words.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tracewell::trace {
namespace {

Result<std::vector<uint16_t>> no_groups(std::string_view) { return std::vector<uint16_t>{}; }

Result<report::ReportOptions> parse(const ReportWords& words) {
  return parse_report_words(words, no_groups);
}

TEST(ReportWords, NothingSaidChoosesEverything) {
  const auto options = parse({});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->filter.everything());
  EXPECT_FALSE(options->from_ns);
}

TEST(ReportWords, ListsHaveCommasOrBlanks) {
  ReportWords words;
  words.threads = "12 0x1f";
  words.cpus = "0,1";
  words.processes = "77,ksh";
  const auto options = parse(words);
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->filter.threads.contains(12));
  EXPECT_TRUE(options->filter.threads.contains(0x1f));
  EXPECT_FALSE(options->filter.threads_excluded);
  EXPECT_TRUE(options->filter.cpus.contains(1));
  EXPECT_TRUE(options->filter.processes.contains(77));
  EXPECT_EQ(options->filter.process_names, std::vector<std::string>{"ksh"});
  words.threads = "!12";
  EXPECT_TRUE(parse(words)->filter.threads_excluded);
}

TEST(ReportWords, GroupsAreAskedFor) {
  ReportWords words;
  words.groups = "mine theirs";
  std::string asked;
  const auto options =
      parse_report_words(words, [&](std::string_view names) -> Result<std::vector<uint16_t>> {
        asked = names;
        return std::vector<uint16_t>{0x0100};
      });
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(asked, "mine theirs");
  EXPECT_FALSE(options->filter.everything());
  const auto refused = parse_report_words(
      words, [](std::string_view) -> Result<std::vector<uint16_t>> {
        return {Errc::NotFound, "no such group"};
      });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "-D: no such group");
}

TEST(ReportWords, WhatIsWrongIsNamed) {
  const auto says = [](void (*change)(ReportWords&), std::string_view what) {
    ReportWords words;
    change(words);
    const auto options = parse(words);
    ASSERT_FALSE(options.ok()) << what;
    EXPECT_EQ(options.error().code, Errc::InvalidArgument);
    EXPECT_NE(options.error().message.find(what), std::string::npos) << options.error().message;
  };
  says([](ReportWords& words) { words.hooks = "010:12345"; }, "-d: \"010:12345\"");
  says([](ReportWords& words) { words.threads = "one"; }, "-T: \"one\"");
  says([](ReportWords& words) { words.cpus = "4294967296"; }, "-C: ");
  says([](ReportWords& words) { words.processes = "12x"; }, "-p: \"12x\"");
  says([](ReportWords& words) { words.from_date = "0631000024"; }, "MMddhhmmssyy");
  says([](ReportWords& words) { words.from_date = "063100000024"; }, "MMddhhmmssyy");
  says([](ReportWords& words) { words.settings = {"pagesize=501"}; }, "0 (no pages) to 500");
  says([](ReportWords& words) { words.settings = {"starttime=1.0000000001"}; }, "such as 1.5");
  says([](ReportWords& words) { words.settings = {"PURR=on"}; }, "not recorded");
  says([](ReportWords& words) { words.settings = {"hist=on,ids=on"}; }, "no other -O");
}

TEST(ReportWords, TwoDigitsAreExplained) {
  EXPECT_EQ(hook_hint("10"),
            "; 10 stands for the hooks 100 to 10F; the hook 010 is written 010");
  EXPECT_EQ(hook_hint("010"), "");
}

}  // namespace
}  // namespace tracewell::trace
