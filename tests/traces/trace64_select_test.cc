// Conformance case 41: a part of a trace is a trace.
#include <algorithm>

#include <gtest/gtest.h>

#include "filter/select.h"
#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

TEST(Trace64, Case41APartIsATrace) {
  RandomProgram program(41, true, 3, 20);
  const auto moments = program.run(3000);
  const std::string bytes = head(kJson64) + record(moments, {});
  for (const char* style : {"x64dbg", "minimal"}) {
    Opened opened(bytes, "trace64");
    filter::Selection selection;
    selection.where = *filter::Expression::parse(
        "tid == 4004 || seq < 700 || seq >= 2000 && seq < 2300", opened.source->catalog());
    auto wanted = [&](size_t i) {
      return moments[i].tid == 4004 || i < 700 || (i >= 2000 && i < 2300);
    };
    auto part = filter::select(std::move(opened.source), std::move(selection));
    const std::string smaller = saved(*part, {.compat = false, .style = style});
    EXPECT_LT(smaller.size(), bytes.size());
    ReadBack got(smaller);
    EXPECT_EQ(got.opened.problems->count(), 0u);
    ASSERT_GT(got.steps.size(), 1000u);
    const auto before = registers_of(bytes);
    const auto after = registers_of(smaller);
    size_t at = 0;
    for (size_t i = 0; i < got.steps.size(); ++i, ++at) {
      while (!wanted(at)) ++at;
      ASSERT_EQ(got.steps[i].pc, moments[at].words[16]);
      ASSERT_EQ(got.tids[i], moments[at].tid);
      ASSERT_EQ(after.at(i).block, before.at(at).block) << i << " was " << at;
    }
    const auto keyframes = got.opened.source->steps()->keyframes();
    for (uint64_t seq = 0; seq < got.steps.size(); seq += 512)
      EXPECT_TRUE(std::binary_search(keyframes.begin(), keyframes.end(), seq)) << seq;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
