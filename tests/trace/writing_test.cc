#include <algorithm>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "trace/selected_events.h"
#include "trace/writing/conversion.h"
#include "trace/writing/output.h"
#include "trace/writing/repair.h"
#include "trace_folder.h"

namespace tracewell::trace::test {
namespace {

class Writing : public TraceFolder {
 protected:
  /// By the name of the output.
  Status written(const Conversion& conversion) {
    const auto format = output_format("", conversion.output);
    EXPECT_TRUE(format.ok());
    return convert(conversion, **format, work_);
  }
  uint64_t records(const std::string& path) {
    auto events = SelectedEvents::open({.path = path}, {}, {}, work_);
    EXPECT_TRUE(events.ok() && events->begin(UINT64_MAX, "counting", work_).ok());
    Batch batch;
    uint64_t count = 0;
    while (*events->source().next(batch))
      for (const Event& event : batch.events())
        count += std::holds_alternative<Step>(event.body) ||
                 std::holds_alternative<Frame>(event.body);
    return count;
  }
};

TEST_F(Writing, ConvertsWhatIsChosen) {
  Conversion one{.input = {.path = steps()}, .output = path("all.csv")};
  ASSERT_TRUE(written(one).ok());
  EXPECT_NE(content(one.output), "");
  one.output = path("one.jsonl");
  one.selection.where = "tid == 8";
  ASSERT_TRUE(written(one).ok());
  EXPECT_EQ(records(one.output), 2u);
  one.at = "0x2001";
  one.output = path("frames.tf");
  ASSERT_TRUE(written(one).ok());
  EXPECT_EQ(records(one.output), 1u);
}

TEST_F(Writing, WhatIsThereStaysWhereNothingIsLeft) {
  Conversion one{.input = {.path = steps()}, .output = path("kept.csv")};
  std::ofstream(one.output) << "mine";
  one.selection.where = "pc == 401010";
  const Status none = written(one);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Errc::NotFound);
  EXPECT_NE(none.error().message.find("is 401010 hexadecimal"), std::string::npos);
  EXPECT_EQ(content(one.output), "mine");
  one.output = one.input.path;
  EXPECT_EQ(written(one).error().code, Errc::InvalidArgument);
}

TEST_F(Writing, TellsWhatChangesNothing) {
  Conversion one{.input = {.path = steps()}, .mark_gaps = true, .output = path("all.jsonl")};
  ASSERT_TRUE(written(one).ok());
  const std::string text =
      one.output + ": --mark-gaps changes nothing: that is of trace64, and this is jsonl";
  EXPECT_EQ(std::ranges::count(*told_, text), 1);
}

TEST_F(Writing, OutputsAreNamedByFormats) {
  EXPECT_EQ((*output_format("", "a.csv"))->name, "csv");
  EXPECT_EQ((*output_format("jsonl", "a.csv"))->name, "jsonl");
  EXPECT_EQ(output_format("", "a").error().code, Errc::InvalidArgument);
  EXPECT_EQ(output_format("none", "a.csv").error().code, Errc::InvalidArgument);
}

TEST_F(Writing, RepairsWhatCanBeRead) {
  Repair one{.input = {.path = steps()}, .output = path("again.jsonl")};
  auto problems = repair(one, work_);
  ASSERT_TRUE(problems.ok());
  EXPECT_EQ((*problems)->count(Problem::Severity::Warning), 0u);
  EXPECT_EQ(records(one.output), 9u);

  std::ofstream(one.input.path, std::ios::app) << "{\"kind\":\"step\",\"tid\":7,\"pc\":\n";
  problems = repair(one, work_);
  ASSERT_TRUE(problems.ok());
  EXPECT_NE((*problems)->count(Problem::Severity::Warning), 0u);
  EXPECT_EQ(records(one.output), 9u);

  one.output = path("again.csv");
  EXPECT_EQ(repair(one, work_).error().code, Errc::InvalidArgument) << "a name of another format";
}

TEST_F(Writing, SelectedEventsAreLimited) {
  SelectionOptions selection;
  selection.from = 3;
  auto events = SelectedEvents::open({.path = steps()}, selection, {}, work_);
  ASSERT_TRUE(events.ok() && events->begin(2, "counting", work_).ok());
  Batch batch;
  std::vector<uint64_t> numbers;
  while (*events->source().next(batch))
    for (const Event& event : batch.events()) numbers.push_back(event.seq);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(events->source().count(), 2u);
  events->tell_doubts(work_);
  EXPECT_TRUE(told_->empty());
}

}  // namespace
}  // namespace tracewell::trace::test
