// In which order the threads of a trace came.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "list_source.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

TEST(TimelineThreads, AreInTheOrderOfTheirFirstSteps) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    const RandomSteps trace(seed, {.steps = 3000, .threads = 40});
    std::vector<uint64_t> wanted;
    for (const Event& event : trace.events())
      if (std::holds_alternative<Step>(event.body) &&
          std::ranges::find(wanted, event.tid) == wanted.end())
        wanted.push_back(event.tid);
    for (const uint64_t steps : {7u, 300u, 100000u}) {
      tracewell::test::ListSource source(trace.catalog, trace.events());
      TimelineOptions options;
      options.build.segment_steps = steps;
      const auto store = StepStore::read(source);
      const auto timeline = Timeline::open(**store, trace.catalog, {}, options);
      ASSERT_TRUE(timeline.ok());
      EXPECT_EQ(timeline->threads_as_they_came(), wanted) << seed << ", " << steps;
      EXPECT_GT(wanted.size(), 30u);
    }
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
