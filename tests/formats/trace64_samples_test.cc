// The sample files, which a model of x64dbg's recorder wrote: whole, and damaged in every way.
#include <random>

#include <gtest/gtest.h>

#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

std::string sample(const std::string& name) {
  return read_file(std::string(TRACEWELL_SOURCE_DIR) + "/tests/formats/data/" + name + ".trace64");
}

std::string jsonl_of(const std::string& bytes) { return without_path(converted(bytes, "jsonl")); }

TEST(Trace64Samples, RewritingGivesTheSameBytes) {
  for (const char* name : {"synthetic_single", "synthetic_threads_fixed"}) {
    const std::string bytes = sample(name);
    EXPECT_TRUE(converted(bytes, "trace64") == bytes) << name;
    EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes) << name;
  }
}

TEST(Trace64Samples, TheThreadIdFaultIsPutRight) {
  const std::string fixed = sample("synthetic_threads_fixed");
  const std::string faulty = sample("synthetic_threads_tidbug");
  Opened opened(faulty);
  ASSERT_TRUE(opened.source) << opened.error;
  const std::string events = without_path(written(*opened.source, "jsonl"));
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 36u);
  for (const Problem& problem : opened.problems->kept()) EXPECT_EQ(problem.code, "hidden-thread-id");
  EXPECT_TRUE(events == jsonl_of(fixed));
  EXPECT_TRUE(converted(faulty, "trace64") == fixed) << "and is written without the fault";
}

}  // namespace
}  // namespace tracewell::formats::test
