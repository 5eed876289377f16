// What is kept of a trace ahead moves when more of it is read: nobody goes on with what it was. To
// be run with AddressSanitizer, too, which sees more of that.
#include <algorithm>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "timeline/diff/diff.h"
#include "timeline/diff_runs.h"

namespace tracewell::timeline::test {
namespace {

constexpr uint64_t kBase = 0x140000000;

/// Offers the places of another one in blocks of these sizes, the last of which repeats.
class BlockSteps final : public StepIndex {
 public:
  BlockSteps(std::unique_ptr<StepStore> steps, std::vector<size_t> blocks)
      : steps_(std::move(steps)), blocks_(std::move(blocks)) {
    const auto flow = steps_->flow_at(0);
    while (*flow->next(places_)) {
    }
  }
  const Catalog& catalog() const { return steps_->catalog(); }
  uint64_t count() const override { return steps_->count(); }
  Status seek(uint64_t seq) override { return steps_->seek(seq); }
  Status state_before(uint64_t seq, Moment& moment) override {
    return steps_->state_before(seq, moment);
  }
  std::span<const uint64_t> keyframes() const override { return steps_->keyframes(); }
  std::span<const uint64_t> sessions() const override { return steps_->sessions(); }
  std::span<const uint64_t> stretches() const override { return steps_->stretches(); }
  Result<std::unique_ptr<Source>> open_at(uint64_t seq) const override {
    return steps_->open_at(seq);
  }
  std::unique_ptr<StepFlow> flow_at(uint64_t seq) const override {
    return std::make_unique<Flow>(*this, seq);
  }
  Result<bool> refresh() override { return false; }

 private:
  class Flow final : public StepFlow {
   public:
    Flow(const BlockSteps& steps, uint64_t seq) : steps_(steps), at_(seq) {}
    Result<bool> next(Places& places) override {
      const size_t size = steps_.blocks_[std::min(number_++, steps_.blocks_.size() - 1)];
      const size_t some = std::min(size, steps_.places_.size() - at_);
      const auto from = steps_.places_.begin() + static_cast<ptrdiff_t>(at_);
      places.insert(places.end(), from, from + static_cast<ptrdiff_t>(some));
      at_ += some;
      return some != 0;
    }

   private:
    const BlockSteps& steps_;
    size_t at_, number_ = 0;
  };
  std::unique_ptr<StepStore> steps_;
  std::vector<size_t> blocks_;
  Places places_;
};

/// These steps, those from `second` on of another thread; one step or more are missing in
/// front of number `hole`.
std::unique_ptr<StepStore> stored(const Items& items, size_t second, size_t hole) {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.address_bytes = 8;
  catalog.registers = machine::x86_64_layout({});
  Batch batch;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == hole) {
      Event& lost = batch.add();
      lost.seq = i;
      lost.body = Lost{0, "a test"};
    }
    Step step;
    step.pc = items[i].pc;
    step.opcode = *items[i].code;
    Event& event = batch.add();
    event.seq = i;
    event.tid = i < second ? 1 : 2;
    event.body = step;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  auto store = StepStore::read(source);
  EXPECT_TRUE(store.ok());
  return std::move(*store);
}

/// In front of a hole, more is read to find out where the runs go on, and without registers nobody
/// knows. `blocks`: of the run with the hole; how much of it moves, and where to, is their doing.
void compare_over_hole(size_t hole, const std::vector<size_t>& blocks, size_t window) {
  SCOPED_TRACE(window);
  Items items;
  for (size_t i = 0; i < 60000; ++i) items.push_back({kBase + 3 * i, &nop()});
  const BlockSteps holed(stored(items, SIZE_MAX, hole), blocks);
  const BlockSteps whole(stored(items, SIZE_MAX, SIZE_MAX), {items.size()});
  DiffOptions options;
  options.window = window;
  for (const bool in_a : {true, false}) {
    const BlockSteps& a = in_a ? holed : whole;
    const BlockSteps& b = in_a ? whole : holed;
    const auto report = diff({a, a.catalog()}, {b, b.catalog()}, options);
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->threads.size(), 1u);
    const ThreadDiff& thread = report->threads[0];
    EXPECT_EQ(thread.same, items.size());
    ASSERT_EQ(thread.differences.size(), 1u);
    EXPECT_EQ(thread.differences[0].kind, Difference::Kind::Missing);
    const auto& found = in_a ? thread.differences[0].hole_a : thread.differences[0].hole_b;
    ASSERT_TRUE(found);
    EXPECT_EQ(found->seq, hole);
  }
}

/// What is behind is dropped, and what is ahead takes its place: later steps are where the next
/// ones were. (The first block holds all that the vector needs, so that it stays where it is.)
TEST(DiffAhead, WhatIsAheadMovesToTheFront) {
  compare_over_hole(16700, {21000, 12000, 1000}, 256);
}

/// The places go to other memory, and their own is given back.
TEST(DiffAhead, WhatIsAheadMovesElsewhere) {
  compare_over_hole(0, {4200, 500}, 256);
  compare_over_hole(0, {4200, 500}, size_t{1} << 14);
  compare_over_hole(16700, {21000, 12000, 1000}, size_t{1} << 14);
}

/// Rounds are counted by reading again, which may come further than the comparison has, to threads
/// that nobody knows yet.
TEST(DiffAhead, ThreadsAreFoundWhileRoundsAreCounted) {
  constexpr size_t kBody = 6, kRounds = 4000, kSecond = 27000;
  const auto run = [&](size_t rounds, uint64_t odd) {
    Items items;
    for (size_t i = 0; i < 1500; ++i) items.push_back({kBase + 3 * i, &nop()});
    items[1000].pc += odd;  // from there on, the comparison stops elsewhere than who reads again
    for (size_t i = 0; i < rounds * kBody; ++i) {
      const bool goes_back = i % kBody + 1 == kBody;
      items.push_back({kBase + 0x8000 + i % kBody * 3, goes_back ? &jump_if() : &nop()});
    }
    for (size_t i = 0; items.size() < kSecond; ++i)
      items.push_back({kBase + 0x8100 + 3 * i, &nop()});
    for (size_t i = 0; i < 3000; ++i) items.push_back({kBase + 0x20000 + 3 * i, &nop()});
    const std::vector<size_t> blocks = {1000};
    return std::make_unique<BlockSteps>(stored(items, kSecond, SIZE_MAX), blocks);
  };
  const auto a = run(kRounds, 0), b = run(kRounds + 3, 0x5001);
  const auto report = diff({*a, a->catalog()}, {*b, b->catalog()}, {});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->threads.size(), 2u);
  ASSERT_GE(report->threads[0].differences.size(), 2u);
  const Difference& loop = report->threads[0].differences[1];
  ASSERT_EQ(loop.kind, Difference::Kind::Loop);
  EXPECT_TRUE(loop.exact);
  EXPECT_EQ(loop.times_a, kRounds);
  EXPECT_EQ(loop.times_b, kRounds + 3);
}

}  // namespace
}  // namespace tracewell::timeline::test
