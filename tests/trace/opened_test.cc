// What is opened for a command as a whole: two runs, a recording, a trace to be searched by words.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "trace/compared_runs.h"
#include "trace/questions/calls.h"
#include "trace/questions/find_words.h"
#include "trace/replayed.h"
#include "trace_folder.h"

namespace tracewell::trace::test {
namespace {

using Opened = TraceFolder;

TEST_F(Opened, TwoRuns) {
  const auto runs = open_runs({.path = steps("a.jsonl")}, {.path = steps("b.jsonl")}, {}, work_);
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->a.steps.steps().count(), 9u);
  EXPECT_EQ(runs->b.steps.steps().count(), 9u);
  EXPECT_EQ(open_runs({.path = "-"}, {.path = "-"}, {}, work_).error().code,
            Errc::InvalidArgument);
  const auto none = open_runs({.path = path("none")}, {.path = "/"}, {}, work_);
  EXPECT_NE(none.error().message.find(path("none")), std::string::npos) << "it is the first one's";
}

TEST_F(Opened, AReplayOfSteps) {
  const InputOptions input{.path = steps()};
  EXPECT_TRUE(is_replayable(input, {}).ok());
  EXPECT_FALSE(is_replayable({.path = path("none")}, {}).ok());
  const auto fits = [](const Catalog& catalog) {
    EXPECT_EQ(catalog.machine, "x86-64");
    return Status();
  };
  const auto replayed = open_replayed(input, {}, {}, fits, work_);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed->frames, nullptr);
  EXPECT_EQ(replayed->history->count(), 9u);
  const auto refuses = [](const Catalog&) { return Status(Errc::Limit, "too large"); };
  EXPECT_EQ(open_replayed(input, {}, {}, refuses, work_).error().message, "too large");
}

TEST_F(Opened, ASearchByWords) {
  const auto trace = open_step_trace({.path = steps()}, {}, work_);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(find_kinds().size(), 7u);
  const auto range = find_question({.what = "write", .argument = "0x7000,8"}, *trace);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->what, FindQuestion::What::Writes);
  EXPECT_EQ(range->range.last, 0x7007u);
  EXPECT_EQ(find_question({.what = "bytes", .argument = "6869"}, *trace)->bytes.size(), 2u);
  EXPECT_EQ(find_question({.what = "bytes", .argument = "hi"}, *trace).error().message,
            "find bytes hi: wanted are hex digits, two a byte, the lowest address first, such as "
            "488b05; the bytes of this text are 6869");
  EXPECT_EQ(find_question({.what = "value", .argument = "x"}, *trace).error().message.find(
                "find value x: "),
            0u);
  EXPECT_EQ(find_question({.what = "reg", .argument = "al"}, *trace)->register_name, "al");
  EXPECT_FALSE(
      check_find_words({.what = "bytes", .argument = "6869", .backward = true}).ok());
  EXPECT_FALSE(check_find_words({.what = "reg", .argument = "al", .from = 2, .to = 1}).ok());
  EXPECT_EQ(nothing_found({.what = "exec", .argument = "401000"}),
            "nothing found; is 401000 hexadecimal? Then it is 0x401000");
  EXPECT_EQ(nothing_found({.what = "bytes", .argument = "401000"}), "nothing found");
}

TEST(NoCalls, SaysWhatWasAsked) {
  EXPECT_EQ(no_calls_text({.from = 3, .depth = 0, .thread = 7}, 5),
            "none of the calls in this trace (5) is of thread 7 and at depth 0 and at step 3 or "
            "behind it");
  EXPECT_EQ(no_calls_text({}, 0),
            "no call whose callee's first step is recorded is in this trace");
}

}  // namespace
}  // namespace tracewell::trace::test
