// Properties of the trace file that hold for any trace: nothing is lost on the way through it.
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "formats/random_trace.h"
#include "formats/support.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

std::string jsonl_of(const RandomTrace& trace, const Catalog& catalog) {
  ListSource source(catalog, trace.events().events());
  return written(source, "jsonl");
}

TEST(TfileProperty, ModelToFileToModel) {
  for (uint32_t seed = 1; seed <= 60; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    RandomTrace trace(seed);
    trace.catalog.status->frames = trace.events().size();
    ListSource source(trace.catalog, trace.events().events());
    const std::string file = written(source, "tfile");
    ASSERT_FALSE(file.starts_with("error")) << file;
    Opened again(file);
    ASSERT_TRUE(again.source) << again.error;
    for (const Problem& problem : again.problems->kept())
      if (problem.code != "no-registers") ADD_FAILURE() << problem.text;
    ASSERT_EQ(without_path(written(*again.source, "jsonl")), jsonl_of(trace, trace.catalog));
  }
}

TEST(TfileProperty, FileToJsonAndBackIsTheSameFile) {
  for (uint32_t seed = 101; seed <= 140; seed += tracewell::test::kEach) {
    SCOPED_TRACE(seed);
    RandomTrace trace(seed);
    ListSource source(trace.catalog, trace.events().events());
    const std::string file = written(source, "tfile");
    ASSERT_TRUE(converted(file, "tfile") == file);
    const std::string back = converted(converted(file, "jsonl"), "tfile");
    ASSERT_TRUE(back == file);
  }
}

TEST(TfileProperty, FrameCountIsMadeRight) {
  RandomTrace trace(7);
  for (const std::optional<uint64_t> promised :
       {std::optional<uint64_t>(), std::optional<uint64_t>(0xfff),
        std::optional<uint64_t>(0x1000)}) {
    trace.catalog.status->frames = promised;
    ListSource source(trace.catalog, trace.events().events());
    Opened again(written(source, "tfile"));
    ASSERT_TRUE(again.source);
    EXPECT_EQ(again.source->catalog().status->frames, trace.events().size());
  }
  trace.catalog.status.reset();
  ListSource source(trace.catalog, trace.events().events());
  Opened again(written(source, "tfile"));
  ASSERT_TRUE(again.source);
  EXPECT_EQ(again.source->catalog().status->frames, trace.events().size());
  EXPECT_EQ(again.source->catalog().status->stop, RunStatus::Stop::Unknown);
}

TEST(TfileProperty, NumbersThatDoNotFitAreErrors) {
  Catalog catalog;
  for (const int32_t number : {0, 32768, -32769}) {
    Batch batch;
    batch.add().body = Frame{number, std::nullopt, {}, {}};
    ListSource source(catalog, batch.events());
    EXPECT_TRUE(written(source, "tfile").starts_with("error: event 0: ")) << number;
  }
  Batch batch;
  batch.add().body = Step{};
  ListSource source(catalog, batch.events());
  EXPECT_TRUE(written(source, "tfile").starts_with("error: event 0 is not a tracepoint frame"));
}

TEST(TfileProperty, MarksAreLeftOut) {
  Batch batch;
  batch.add().body = Mark{"note"};
  batch.add().body = Frame{3, std::nullopt, {}, {}};
  ListSource source(Catalog{}, batch.events());
  Opened again(written(source, "tfile"));
  ASSERT_TRUE(again.source);
  EXPECT_EQ(again.source->seekable()->count(), 1u);
}

}  // namespace
}  // namespace tracewell::formats::test
