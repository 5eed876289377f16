// How much of the traces is read to compare them: in proportion to what there is, and no time is
// measured for that.
#include <utility>

#include <gtest/gtest.h>

#include "timeline/diff.h"
#include "timeline/diff_runs.h"

namespace tracewell::timeline::test {
namespace {

using Place = StepFlow::Place;

/// Counts what is read of another one, and offers its places directly, as x64dbg's traces do.
class CountedSteps final : public StepIndex {
 public:
  CountedSteps(StepIndex& steps, std::vector<Place> places)
      : steps_(steps), places_(std::move(places)) {}
  uint64_t count() const override { return steps_.count(); }
  Status seek(uint64_t seq) override { return steps_.seek(seq); }
  Status state_before(uint64_t seq, Moment& moment) override {
    return steps_.state_before(seq, moment);
  }
  std::span<const uint64_t> keyframes() const override { return steps_.keyframes(); }
  std::span<const uint64_t> sessions() const override { return steps_.sessions(); }
  std::span<const uint64_t> stretches() const override { return steps_.stretches(); }
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override {
    ++opened;
    return steps_.open_at(seq);
  }
  std::unique_ptr<StepFlow> flow_at(uint64_t seq) const override {
    return std::make_unique<Flow>(*this, seq);
  }
  Result<bool> refresh() override { return false; }

  mutable uint64_t read = 0;    // places
  mutable uint64_t opened = 0;  // to look at events

 private:
  class Flow final : public StepFlow {
   public:
    Flow(const CountedSteps& steps, uint64_t seq) : steps_(steps), at_(seq) {}
    Result<bool> next(std::vector<Place>& places) override {
      const size_t some = std::min<size_t>(1000, steps_.places_.size() - at_);
      const auto from = steps_.places_.begin() + static_cast<ptrdiff_t>(at_);
      places.insert(places.end(), from, from + static_cast<ptrdiff_t>(some));
      at_ += some;
      steps_.read += some;
      return some != 0;
    }

   private:
    const CountedSteps& steps_;
    size_t at_;
  };
  StepIndex& steps_;
  std::vector<Place> places_;
};

struct Run {
  std::unique_ptr<StepStore> store;
  std::unique_ptr<CountedSteps> counted;
  DiffSide side() const { return {*counted, store->catalog()}; }
};

Run run_of(const Items& items) {
  Run out;
  out.store = trace_of({items}, 1, 1);
  std::vector<Place> places(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    places[i].pc = items[i].pc;
    places[i].tid = 1;
    places[i].seq = i;
    std::copy(items[i].code->begin(), items[i].code->end(), places[i].code.begin());
    places[i].code[15] = static_cast<uint8_t>(items[i].code->size());
  }
  out.counted = std::make_unique<CountedSteps>(*out.store, std::move(places));
  return out;
}

/// Rounds of 700 places, at `base`; every `odd`-th one is elsewhere for a while.
Items rounds(size_t steps, uint64_t base, size_t odd) {
  Items out;
  for (size_t i = 0; i < steps; ++i) {
    const bool away = odd != 0 && i / 700 % odd == odd - 1 && i % 700 > 300 && i % 700 < 340;
    out.push_back({base + i % 700 * 5 + (away ? 0x100000 : 0), &nop()});
  }
  return out;
}

struct Work {
  uint64_t read = 0;  // places of both
  size_t differences = 0;
};

Work work_of(const Items& a, const Items& b, size_t most) {
  const Run one = run_of(a), other = run_of(b);
  DiffOptions options;
  options.most = most;
  const auto report = diff(one.side(), other.side(), options);
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return {};
  EXPECT_FALSE(report->same());
  const ThreadDiff& thread = report->threads.at(0);
  return {one.counted->read + other.counted->read, thread.differences.size() + thread.untold};
}

/// The same but for the last step, at other bases: each is read once, and a window's worth more.
TEST(DiffWork, RunsThatPartAtTheEndAreReadOnce) {
  for (const size_t steps : {20000u, 200000u, 1000000u}) {
    Items a = rounds(steps, 0x140000000, 0), b = rounds(steps, 0x7ff640000000, 0);
    b.back().pc += 0x5000;
    const Work work = work_of(a, b, 100);
    EXPECT_EQ(work.differences, 1u);
    EXPECT_LE(work.read, 2 * steps + 20000) << steps;
  }
}

/// Nor is more read for each difference than the steps around it.
TEST(DiffWork, ManyPartingsCostInProportion) {
  for (const size_t steps : {100000u, 1000000u}) {
    const Work work = work_of(rounds(steps, 0x140000000, 0), rounds(steps, 0x140000000, 4), 10);
    EXPECT_GE(work.differences, steps / 2800 - 1);
    EXPECT_LE(work.read, 2 * steps + 20000) << steps;
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
