#include "filter/step_gaps.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "filter/select.h"

namespace tracewell::filter {
namespace {

using Values = std::map<uint32_t, uint8_t>;

/// Random steps of some threads over eight one-byte registers, and what each thread's registers
/// are before each step. `unused_bytes`: of another register, which nobody tells.
class RandomSteps final : public Source {
 public:
  explicit RandomSteps(uint32_t seed, uint32_t threads = 3, uint32_t unused_bytes = 0)
      : random_(seed), thread_count_(threads) {
    for (uint32_t i = 0; i < 8; ++i) {
      catalog_.registers.registers.push_back({std::string(1, static_cast<char>('a' + i)), i, i, 1,
                                              "int8"});
    }
    catalog_.registers.registers.push_back({"wide", 8, 8, unused_bytes, "wide"});
    catalog_.registers.size_bytes = 8 + unused_bytes;
    for (uint64_t seq = 0; seq < 400; ++seq) add(seq);
  }
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 7 && at_ < steps_.events().size(); ++i)
      batch.add() = steps_.events()[at_++];
    return !batch.empty();
  }
  std::map<uint64_t, Values> expected;  // by number

 private:
  std::span<const Step::RegisterChange> changes(Values& state, size_t most) {
    std::vector<Step::RegisterChange> out;
    for (size_t n = random_() % (most + 1); n > 0; --n) {
      const auto index = static_cast<uint32_t>(random_() % 8);
      state[index] = static_cast<uint8_t>(random_());
      out.push_back({index, steps_.copy(Bytes(&state[index], 1))});
    }
    return steps_.copy_array(std::span<const Step::RegisterChange>(out));
  }
  void add(uint64_t seq) {
    if (seq == 200) {
      threads_.clear();
      Event& mark = steps_.add();
      mark.seq = seq;
      mark.body = Mark{"session 2", true};
    }
    Step step;
    const uint64_t tid = 1 + random_() % thread_count_;
    Values& state = threads_[tid];
    step.before = changes(state, 2);
    expected[seq] = state;
    step.registers = changes(state, 3);
    Event& event = steps_.add();
    event.seq = seq;
    event.tid = tid;
    event.body = step;
  }

  std::mt19937 random_;
  uint32_t thread_count_;
  Catalog catalog_;
  Batch steps_;
  size_t at_ = 0;
  std::map<uint64_t, Values> threads_;
};

TEST(StepGaps, RegistersStayTrueWhereStepsAreLeftOut) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    auto source = std::make_unique<RandomSteps>(seed);
    const auto expected = source->expected;
    Selection selection;
    selection.from = 20;
    selection.where = *Expression::parse("seq >= 150 && seq < 170 || $a >= 128",
                                         source->catalog());
    auto selected = select(std::move(source), std::move(selection));
    std::map<uint64_t, Values> threads;
    Batch batch;
    size_t steps = 0, sessions = 0;
    while (*selected->next(batch)) {
      for (const Event& event : batch.events()) {
        if (const auto* mark = std::get_if<Mark>(&event.body)) {
          EXPECT_TRUE(mark->session);
          threads.clear();
          ++sessions;
          continue;
        }
        const Step& step = std::get<Step>(event.body);
        Values& state = threads[event.tid];
        for (const auto& change : step.before) state[change.index] = change.value[0];
        EXPECT_EQ(state, expected.at(event.seq)) << event.seq;
        for (const auto& change : step.registers) state[change.index] = change.value[0];
        ++steps;
      }
    }
    EXPECT_EQ(sessions, 1u);
    EXPECT_GT(steps, 20u);
    EXPECT_LT(steps, 380u);
  }
}

TEST(StepGaps, GapsAreToldWhereAThreadHasOne) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    // What a walk over all steps expects: thread by thread, and from session to session.
    RandomSteps all(seed);
    Selection selection;
    selection.where = *Expression::parse("$a >= 128 || tid == 2", all.catalog());
    std::map<uint64_t, uint64_t> wanted, dropped;
    std::set<uint64_t> begun, kept;
    auto plain = select(std::make_unique<RandomSteps>(seed), selection);
    Batch batch;
    while (*plain->next(batch))
      for (const Event& event : batch.events())
        if (std::holds_alternative<Step>(event.body)) kept.insert(event.seq);
    while (*all.next(batch)) {
      for (const Event& event : batch.events()) {
        if (std::holds_alternative<Mark>(event.body)) {
          dropped.clear();
          begun.clear();
        } else if (!kept.contains(event.seq)) {
          dropped[event.tid] += begun.contains(event.tid) ? 1 : 0;
        } else {
          if (dropped[event.tid] != 0) wanted[event.seq] = dropped[event.tid];
          dropped[event.tid] = 0;
          begun.insert(event.tid);
        }
      }
    }
    ASSERT_GT(wanted.size(), 5u);

    selection.tells_gaps = true;
    selection.gaps = std::make_shared<uint64_t>(0);
    const auto gaps = selection.gaps;
    auto told = select(std::make_unique<RandomSteps>(seed), std::move(selection));
    std::map<uint64_t, uint64_t> got;
    uint64_t steps = 0;
    while (*told->next(batch)) {
      for (size_t i = 0; i < batch.size(); ++i) {
        const Event& event = batch.events()[i];
        steps += std::holds_alternative<Step>(event.body) ? 1 : 0;
        const auto* lost = std::get_if<Lost>(&event.body);
        if (lost == nullptr) continue;
        got[event.seq] = lost->count;
        ASSERT_LT(i + 1, batch.size());
        EXPECT_TRUE(std::holds_alternative<Step>(batch.events()[i + 1].body));
        EXPECT_EQ(batch.events()[i + 1].seq, event.seq);
      }
    }
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(steps, kept.size());
    EXPECT_EQ(*gaps, wanted.size());
  }
}

/// Numbers of the steps that stay, and of those of them that say that others are left out in front.
struct Stays {
  std::set<uint64_t> steps, behind_gaps, behind_losses;
};
Stays stays(uint32_t seed, std::string_view where, bool tells_gaps) {
  auto source = std::make_unique<RandomSteps>(seed);
  Selection selection;
  selection.where = *Expression::parse(where, source->catalog());
  selection.tells_gaps = tells_gaps;
  auto selected = select(std::move(source), std::move(selection));
  Stays out;
  Batch batch;
  while (*selected->next(batch))
    for (const Event& event : batch.events()) {
      if (std::holds_alternative<Lost>(event.body)) out.behind_losses.insert(event.seq);
      const auto* step = std::get_if<Step>(&event.body);
      if (step == nullptr) continue;
      out.steps.insert(event.seq);
      if (step->gap_before) out.behind_gaps.insert(event.seq);
    }
  return out;
}

// Steps of other threads wrote memory, too: who knows nothing of them takes for told what is not.
TEST(StepGaps, StepsOfOtherThreadsAreMissedAsWell) {
  for (uint32_t seed = 1; seed <= 20; ++seed)
    for (const char* where : {"tid == 1", "tid != 1", "$a.before >= 100",
                              "$b.before < 100 || tid == 2", "seq >= 50"}) {
      SCOPED_TRACE(std::to_string(seed) + " " + where);
      const Stays told = stays(seed, where, true), untold = stays(seed, where, false);
      std::set<uint64_t> wanted;
      std::optional<uint64_t> last;
      for (const uint64_t step : untold.steps) {
        if (step >= 200 && last && *last < 200) last.reset();  // another session
        if (last && step != *last + 1) wanted.insert(step);
        last = step;
      }
      EXPECT_EQ(untold.behind_gaps, wanted);
      EXPECT_TRUE(untold.behind_losses.empty());
      EXPECT_EQ(told.steps, untold.steps);
      for (const uint64_t step : told.behind_losses) wanted.erase(step);
      EXPECT_EQ(told.behind_gaps, wanted);
    }
}

/// A step of so many threads is more than a megabyte for whoever keeps registers.
TEST(StepGaps, OfTooManyThreadsNothingWrongIsTold) {
  auto source = std::make_unique<RandomSteps>(3, 200, 1 << 20);
  const auto expected = source->expected;
  Selection selection;
  selection.where = *Expression::parse("$a.before >= 100 || seq >= 150", source->catalog());
  uint64_t forgotten = 0;
  selection.forgets = [&] { ++forgotten; };
  auto selected = select(std::move(source), std::move(selection));
  std::map<uint64_t, Values> threads;
  Batch batch;
  uint64_t steps = 0, sessions = 0;
  while (*selected->next(batch)) {
    for (const Event& event : batch.events()) {
      if (std::holds_alternative<Mark>(event.body)) {
        threads.clear();
        ++sessions;
        continue;
      }
      const Step& step = std::get<Step>(event.body);
      Values& state = threads[event.tid];
      for (const auto& change : step.before) state[change.index] = change.value[0];
      for (const auto& [index, value] : state) {
        ASSERT_TRUE(expected.at(event.seq).contains(index));
        EXPECT_EQ(value, expected.at(event.seq).at(index)) << event.seq;
      }
      if (event.seq < 150) {
        EXPECT_GE(expected.at(event.seq).at(0), 100);
      }
      for (const auto& change : step.registers) state[change.index] = change.value[0];
      ++steps;
    }
  }
  EXPECT_EQ(forgotten, 2u);
  EXPECT_EQ(sessions, 3u);  // one is the trace's
  EXPECT_GT(steps, 20u);
}

}  // namespace
}  // namespace tracewell::filter
