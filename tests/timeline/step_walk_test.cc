#include "sanitized.h"
#include "timeline/step_walk.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

/// All that a walk finds.
std::vector<uint64_t> walked(const StepWalk::Question& question, uint64_t from, uint64_t end,
                             bool backward) {
  StepWalk walk(question, from, end, backward);
  std::vector<uint64_t> out;
  while (const auto step = walk.next()) out.push_back(*step);
  EXPECT_EQ(walk.next(), std::nullopt);
  return out;
}

/// The same, asked one by one.
std::vector<uint64_t> asked(const StepWalk::Question& question, uint64_t from, uint64_t end,
                            bool backward) {
  std::vector<uint64_t> out;
  auto step = backward ? question.last(end) : question.next(from);
  while (step && *step >= from && *step < end) {
    out.push_back(*step);
    step = backward ? question.last(*step) : question.next(*step + 1);
  }
  return out;
}

TEST(StepWalk, FindsWhatIsFoundOneByOne) {
  uint64_t told = 0;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    RandomSteps trace(seed, {.steps = 6000, .threads = 1 + seed % 3});
    tracewell::test::ListSource source(trace.catalog, trace.events());
    const auto store = *StepStore::read(source);
    TimelineOptions options;
    if (seed % 2 == 1) options.build.segment_steps = 700;
    const auto timeline =
        std::make_unique<Timeline>(*Timeline::open(*store, trace.catalog, {}, options));
    for (size_t i = 0; i < 30; i += tracewell::test::kEach) {
      const uint64_t pc = trace.some_pc(), address = trace.some_address();
      const AddressRange pcs = {pc, pc + trace.below(100)};
      const AddressRange bytes = {address, address + std::min(trace.below(900), ~address)};
      const auto kinds = static_cast<uint8_t>(1 + trace.below(3));
      const auto index = static_cast<uint32_t>(trace.below(18));
      const std::vector<StepWalk::Question> questions = {
          {[&](uint64_t from) { return timeline->next_execution(pcs, from); },
           [&](uint64_t before) { return timeline->last_execution(pcs, before); },
           [&](uint64_t from, uint64_t end) { return timeline->executions(pcs, from, end); }},
          {[&](uint64_t from) { return timeline->next_access(bytes, kinds, from); },
           [&](uint64_t before) { return timeline->last_access(bytes, kinds, before); },
           [&](uint64_t from, uint64_t end) {
             return timeline->accesses(bytes, kinds, from, end);
           }},
          {[&](uint64_t from) {
             const auto one = timeline->next_change(index, ChangedBy::Instruction, from);
             const auto other = timeline->next_change(index, ChangedBy::Others, from);
             return one && other ? std::min(one, other) : one ? one : other;
           },
           [&](uint64_t before) {
             return std::max(timeline->last_change(index, ChangedBy::Instruction, before),
                             timeline->last_change(index, ChangedBy::Others, before));
           },
           [&](uint64_t from, uint64_t end) { return timeline->changes(index, from, end); }}};
      const uint64_t from = trace.chance(50) ? 0 : trace.below(6000);
      const uint64_t end = trace.chance(50) ? UINT64_MAX : trace.below(7000);
      for (size_t which = 0; which < questions.size(); ++which)
        for (const bool backward : {false, true}) {
          const auto wanted = asked(questions[which], from, end, backward);
          EXPECT_EQ(walked(questions[which], from, end, backward), wanted)
              << "seed " << seed << " question " << which << " " << from << " " << end;
          told += wanted.size();
        }
    }
  }
  EXPECT_GT(told, 100000u / tracewell::test::kEach);
}

// What makes it worth while: a range of many addresses is not gone over for each step.
TEST(StepWalk, AsksLittle) {
  constexpr uint64_t kSteps = 9'000'000;
  uint64_t questions = 0, stretches = 0;
  StepWalk walk({[&](uint64_t from) {
                   ++questions;
                   return from < kSteps ? StepWalk::Found(from) : std::nullopt;
                 },
                 [](uint64_t) { return StepWalk::Found(); },
                 [&](uint64_t from, uint64_t end) {
                   ++stretches;
                   std::vector<uint64_t> out;
                   for (uint64_t i = from; i < std::min(end, kSteps); ++i) out.push_back(i);
                   return out;
                 }},
                0, UINT64_MAX, false);
  ASSERT_EQ(walk.next(), 0u);
  EXPECT_EQ(stretches, 0u);
  uint64_t wrong = 0;
  for (uint64_t i = 1; i < kSteps; ++i) wrong += walk.next() != i ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(walk.next(), std::nullopt);
  EXPECT_EQ(questions, 2u);
  EXPECT_LE(stretches, 8u);
}

}  // namespace
}  // namespace tracewell::timeline::test
