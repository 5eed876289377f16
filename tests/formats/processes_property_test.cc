// Whose an event is, and what changed in front of it, is the same in whatever carries it.
#include <string>

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "formats/random_processes.h"
#include "formats/support.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

constexpr uint32_t kProcessSeeds = 300;

TEST(ProcessesProperty, JsonLinesSayWhoseEachEventIs) {
  for (uint32_t seed = 1; seed <= kProcessSeeds; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    const RandomProcesses trace(seed);
    ListSource first(trace.catalog, trace.events().events());
    const ReadProcesses wanted = read_processes(first);
    ASSERT_EQ(wanted.stories, stories(trace.counted()));
    ListSource source(trace.catalog, trace.events().events());
    const std::string once = written(source, "jsonl");
    Opened again(once);
    ASSERT_TRUE(again.source) << again.error;
    EXPECT_EQ(again.source->catalog().processes, trace.catalog.processes);
    const ReadProcesses got = read_processes(*again.source);
    EXPECT_EQ(got.stories, wanted.stories);
    EXPECT_EQ(got.changes, wanted.changes);
    EXPECT_TRUE(again.problems->empty());
    // What a thread tells of its events is told with each of them now.
    const std::string twice = without_path(converted(once, "jsonl"));
    Opened third(twice);
    EXPECT_EQ(read_processes(*third.source).stories, wanted.stories);
    ASSERT_EQ(without_path(converted(twice, "jsonl")), twice);
  }
}

TEST(ProcessesProperty, CsvSaysWhoseEachEventIs) {
  for (uint32_t seed = 1; seed <= kProcessSeeds; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    const RandomProcesses trace(seed);
    ListSource source(trace.catalog, trace.events().events());
    std::string text = written(source, "csv");
    std::string_view rows = text;
    take_until(rows, '\n');
    size_t at = 0;
    while (!rows.empty()) {
      std::string_view row = take_until(rows, '\n');
      if (row.find(",change,") != row.npos) continue;
      ASSERT_LT(at, trace.counted().size());
      const auto& one = trace.counted()[at++];
      const uint32_t process = one.event.process;
      const std::string wanted =
          fmt::format(",{},{}\r", process == 0 || one.pid == 0 ? "" : std::to_string(one.pid),
                      process == 0 ? "" : std::to_string(process));
      EXPECT_TRUE(row.ends_with(wanted)) << row << " and not " << wanted;
    }
    EXPECT_EQ(at, trace.counted().size());
  }
}

}  // namespace
}  // namespace tracewell::formats::test
