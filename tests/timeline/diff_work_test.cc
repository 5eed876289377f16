// How much of the traces is read to compare them: in proportion to what there is, and no time is
// measured for that.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"
#include "timeline/diff/diff.h"
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
    auto source = steps_.open_at(seq);
    if (!source.ok()) return source;
    return std::unique_ptr<Source>(std::make_unique<Events>(*std::move(source), *this));
  }
  Result<std::unique_ptr<Source>> open_thread_at(uint64_t seq, uint64_t tid) const override {
    ++opened;
    auto source = steps_.open_thread_at(seq, tid);
    if (!source.ok()) return source;
    return std::unique_ptr<Source>(std::make_unique<Events>(*std::move(source), *this));
  }
  std::unique_ptr<StepFlow> flow_at(uint64_t seq) const override {
    return std::make_unique<Flow>(*this, seq);
  }
  Result<bool> refresh() override { return false; }

  mutable uint64_t read = 0;    // places
  mutable uint64_t opened = 0;  // to look at events
  mutable uint64_t events = 0;
  mutable uint64_t values = 0;  // of registers, in front of these

 private:
  class Events final : public Source {
   public:
    Events(std::unique_ptr<Source> source, const CountedSteps& count)
        : source_(std::move(source)), count_(count) {}
    const Catalog& catalog() const override { return source_->catalog(); }
    Result<bool> next(Batch& batch) override {
      auto more = source_->next(batch);
      count_.events += batch.events().size();
      for (const Event& event : batch.events())
        if (const auto* step = std::get_if<Step>(&event.body)) count_.values += step->before.size();
      return more;
    }

   private:
    std::unique_ptr<Source> source_;
    const CountedSteps& count_;
  };
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
  std::shared_ptr<const Batch> values;  // what the steps of the store refer to
  DiffSide side() const { return {*counted, store->catalog()}; }
};

Run counted(std::unique_ptr<StepStore> store) {
  Run out;
  out.store = std::move(store);
  std::vector<Place> places;
  const auto flow = out.store->flow_at(0);
  while (*flow->next(places)) {
  }
  out.counted = std::make_unique<CountedSteps>(*out.store, std::move(places));
  return out;
}

Run run_of(const Items& items) { return counted(trace_of({items}, 1, 1)); }

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
  uint64_t opened = 0, events = 0, values = 0;  // of both

  uint64_t all() const { return read + opened + events; }
};

Work work_of(const Run& one, const Run& other, const DiffOptions& options, DiffReport& report) {
  auto got = diff(one.side(), other.side(), options);
  EXPECT_TRUE(got.ok());
  if (!got.ok()) return {};
  report = *std::move(got);
  Work work;
  for (const ThreadDiff& thread : report.threads)
    work.differences += thread.differences.size() + thread.untold;
  for (const CountedSteps* steps : {one.counted.get(), other.counted.get()}) {
    work.read += steps->read;
    work.opened += steps->opened;
    work.events += steps->events;
    work.values += steps->values;
  }
  return work;
}

Work work_of(const Items& a, const Items& b, size_t most) {
  DiffOptions options;
  options.most = most;
  DiffReport report;
  const Work work = work_of(run_of(a), run_of(b), options, report);
  EXPECT_FALSE(report.same());
  return work;
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

/// So many threads of five steps each, that take turns after each step, or never. `odd`: the last
/// step of each is elsewhere. `every`: before each step with such a number, steps are missing.
/// `told`: the first step of each thread tells its registers.
Run many_threads(size_t threads, bool turns, bool odd, size_t every = 0, bool told = false) {
  constexpr size_t kSteps = 5;
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.address_bytes = 8;
  catalog.registers = machine::x86_64_layout({});
  const auto values = std::make_shared<Batch>();
  Batch& batch = *values;
  for (uint64_t seq = 0; seq < threads * kSteps; ++seq) {
    if (every != 0 && seq % every == every - 1) {
      Event& lost = batch.add();
      lost.seq = seq;
      lost.body = Lost{3, "a test"};
    }
    const uint64_t thread = turns ? seq % threads : seq / kSteps;
    const uint64_t step = turns ? seq / threads : seq % kSteps;
    Step body;
    body.pc = 0x401000 + 5 * step + (odd && step + 1 == kSteps ? 0x4000 : 0);
    body.opcode = nop();
    std::vector<Step::RegisterChange> before;
    for (uint32_t i = 0; told && step == 0 && i < catalog.registers.registers.size(); ++i)
      before.push_back({i, batch.array<uint8_t>(catalog.registers.registers[i].size_bytes)});
    body.before = batch.copy_array(std::span<const Step::RegisterChange>(before));
    Event& event = batch.add();
    event.seq = seq;
    event.tid = 1000 + 4 * thread;
    event.body = body;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  Run out = counted(std::move(*StepStore::read(source)));
  out.values = values;
  return out;
}

/// Each trace is read once for the first thread, and once more for all others.
TEST(DiffWork, ManyThreadsAreReadTogether) {
  for (const bool turns : {true, false})
    for (const size_t threads : {size_t{2500}, size_t{10000}}) {
      DiffReport report;
      const Work work = work_of(many_threads(threads, turns, false),
                                many_threads(threads, turns, false), {}, report);
      EXPECT_TRUE(report.same());
      ASSERT_EQ(report.threads.size(), threads);
      EXPECT_EQ(report.threads.back().same, 5u);
      EXPECT_LE(work.read, 4 * 5 * threads + 4 * 1000) << threads;
      EXPECT_LE(work.opened, 4u) << "is something missing at the beginning, or at the end?";
    }
}

/// A watched test looks at one number of threads, too few for what is in proportion.
std::vector<size_t> thread_counts(size_t most) {
  if (tracewell::test::kEach != 1) return {most / 5};
  return {most / 4, most};
}

TEST(DiffWork, DifferencesOfManyThreadsCostInProportion) {
  for (const bool turns : {true, false}) {
    uint64_t before = 0;
    for (const size_t threads : thread_counts(2000)) {
      DiffReport report;
      const Work work = work_of(many_threads(threads, turns, false),
                                many_threads(threads, turns, true), {}, report);
      EXPECT_EQ(work.differences, threads);
      if (before != 0) {
        EXPECT_LE(work.all(), 5 * before) << turns;
      }
      before = work.all();
    }
  }
}

/// Causes are looked for in one thread: the registers of all that run meanwhile are not made out.
TEST(DiffWork, RegistersOfOtherThreadsAreNotAskedFor) {
  constexpr size_t kThreads = 200;
  const auto one = many_threads(kThreads, true, false, 0, true);
  const auto other = many_threads(kThreads, true, true, 0, true);
  const size_t registers = one.store->catalog().registers.registers.size();
  DiffOptions options;
  options.look_back = 2 * kThreads;  // not to the first steps, which tell all
  DiffReport report;
  const Work work = work_of(one, other, options, report);
  EXPECT_EQ(work.differences, kThreads);
  EXPECT_GE(work.opened, 2 * kThreads);
  EXPECT_GE(work.values, 2 * kThreads * registers);
  EXPECT_LE(work.values, work.opened * registers) << "of one thread each time";
}

/// Holes are read once each, by whichever thread comes to them, and not once for each thread.
TEST(DiffWork, ManyHolesInManyThreadsCostInProportion) {
  for (const bool turns : {true, false}) {
    uint64_t before = 0;
    for (const size_t threads : thread_counts(1000)) {
      DiffReport report;
      const Work work = work_of(many_threads(threads, turns, false),
                                many_threads(threads, turns, false, 10), {}, report);
      EXPECT_TRUE(report.undecided());
      EXPECT_GE(work.differences, turns ? threads : threads / 2 - 1);
      if (before != 0) {
        EXPECT_LE(work.all(), 5 * before) << turns;
      }
      before = work.all();
    }
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
