// Questions about a few steps look at the part of the index that has these, and at no other: there
// may be as many parts as sessions, and a question for each of their steps.
#include <atomic>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

TEST(QuestionWork, OtherSegmentsAreNotLookedAt) {
  RandomOptions random;
  random.steps = 3000;
  random.threads = 3;
  random.sessions_per_mille = 20;
  const RandomSteps trace(5, random);
  tracewell::test::ListSource source(trace.catalog, trace.events());
  const std::unique_ptr<StepStore> store = *StepStore::read(source);
  const Timeline whole = *Timeline::open(*store, trace.catalog, {}, TimelineOptions());
  const size_t segments = whole.whole_index().segments.size();
  ASSERT_GT(segments, 30u);
  for (size_t here = 0; here < segments; ++here) {
    SCOPED_TRACE(here);
    Index index = whole.whole_index();
    index.wanted = std::make_shared<std::atomic<bool>>(false);
    for (size_t i = 0; i < segments; ++i) {
      index.segments[i].wanted = index.wanted;
      if (i != here) index.segments[i].left_out = 0xff;
    }
    const auto wanted = index.wanted;
    const uint64_t first = index.segments[here].first, end = index.segments[here].end();
    const Timeline timeline(std::move(index));
    for (uint64_t step = first; step < end; ++step) {
      for (uint32_t reg = 0; reg < 18; ++reg)
        for (const ChangedBy by : {ChangedBy::Instruction, ChangedBy::Others})
          EXPECT_EQ(timeline.changes_at(reg, by, step), whole.changes_at(reg, by, step));
      for (const uint64_t tid : {100, 200, 300, 4444}) {
        EXPECT_EQ(timeline.last_step_of(tid, step, first), whole.last_step_of(tid, step, first));
        EXPECT_EQ(timeline.next_step_of(tid, step, end), whole.next_step_of(tid, step, end));
      }
      for (const AddressRange bytes : {AddressRange{0x7000, 0x7010}, AddressRange{0, UINT64_MAX}}) {
        EXPECT_EQ(timeline.accesses_at(bytes, kWrites, step),
                  whole.accesses_at(bytes, kWrites, step));
        EXPECT_EQ(timeline.next_access(bytes, kWrites, step, end),
                  whole.next_access(bytes, kWrites, step, end));
      }
    }
    EXPECT_FALSE(wanted->load());
    timeline.next_change(0, ChangedBy::Others, end);
    EXPECT_EQ(wanted->load(), end < random.steps) << "who looks at others is seen";
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
