#include "filter/select.h"
#include "model/lost_count.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "list_source.h"

namespace tracewell::filter {
namespace {

/// Events 0..count-1 in batches of ten; counts how many were read.
class CountingSource final : public Source, public Seekable {
 public:
  CountingSource(uint64_t total, bool seekable) : total_(total), seekable_(seekable) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 10 && at_ < total_; ++i, ++read) batch.add().seq = at_++;
    return !batch.empty();
  }
  Seekable* seekable() override { return seekable_ ? this : nullptr; }
  uint64_t count() const override { return total_; }
  Status seek(uint64_t seq) override {
    at_ = seq;
    return {};
  }
  uint64_t read = 0;

 private:
  Catalog catalog_;
  uint64_t total_;
  bool seekable_;
  uint64_t at_ = 0;
};

std::vector<uint64_t> numbers(bool seekable, uint64_t from, uint64_t to, const char* where,
                              uint64_t* read = nullptr) {
  auto source = std::make_unique<CountingSource>(100, seekable);
  const CountingSource& counter = *source;
  Selection selection{from, to, std::nullopt};
  if (*where) selection.where = *Expression::parse(where, source->catalog());
  auto selected = select(std::move(source), std::move(selection));
  std::vector<uint64_t> out;
  Batch batch;
  while (*selected->next(batch))
    for (const Event& event : batch.events()) out.push_back(event.seq);
  EXPECT_FALSE(*selected->next(batch));
  if (read) *read = counter.read;
  return out;
}

TEST(LostCounts, AreNotBelievedBeyondAllMeasure) {
  EXPECT_EQ(lost_count(7), 7u);
  EXPECT_EQ(lost_count(UINT64_MAX), 0u);
  EXPECT_EQ(lost_together(7, 5), 12u);
  EXPECT_EQ(lost_together(7, 0), 0u);
  EXPECT_EQ(lost_together(UINT64_MAX, 6), 0u);
  EXPECT_EQ(lost_together(kLostCountMax, 1), 0u);
}

TEST(Select, RangesAreInclusive) {
  for (const bool seekable : {true, false}) {
    EXPECT_EQ(numbers(seekable, 0, UINT64_MAX, "").size(), 100u);
    EXPECT_EQ(numbers(seekable, 8, 12, ""), (std::vector<uint64_t>{8, 9, 10, 11, 12}));
    EXPECT_EQ(numbers(seekable, 99, 500, ""), (std::vector<uint64_t>{99}));
    EXPECT_TRUE(numbers(seekable, 100, 500, "").empty());
    EXPECT_TRUE(numbers(seekable, 12, 8, "").empty());
    EXPECT_EQ(numbers(seekable, 0, 50, "seq > 48 || seq == 3"), (std::vector<uint64_t>{3, 49, 50}));
  }
}

TEST(Select, SeekableSourcesAreReadWhereNeeded) {
  uint64_t read = 0;
  numbers(true, 55, 57, "", &read);
  EXPECT_EQ(read, 10u);
  numbers(false, 55, 57, "", &read);
  EXPECT_EQ(read, 100u);
}

/// Steps 0 to 59, a batch each two; a session begins in front of each tenth, and in front of each
/// fifteenth steps are missing; so they are at the end.
class BrokenSteps final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 2 && at_ <= kCount; ++i, ++at_) {
      if (at_ % 15 == 0 && at_ != 0) add(batch, Lost{at_ == 30 ? 0 : at_, at_ < 30 ? "a" : "b"});
      if (at_ == kCount) continue;
      if (at_ % 10 == 0) add(batch, Mark{batch.copy("session " + std::to_string(at_)), true});
      add(batch, Mark{.text = "note"});
      add(batch, Step());
    }
    return !batch.empty();
  }
  Seekable* seekable() override { return nullptr; }

 private:
  static constexpr uint64_t kCount = 60;
  template <class Body>
  void add(Batch& batch, const Body& body) {
    Event& event = batch.add();
    event.seq = at_;
    event.body = body;
  }
  Catalog catalog_;
  uint64_t at_ = 0;
};

std::string picked(const char* where) {
  auto source = std::make_unique<BrokenSteps>();
  Selection selection;
  selection.where = *Expression::parse(where, source->catalog());
  auto selected = select(std::move(source), std::move(selection));
  std::string out;
  Batch batch;
  while (*selected->next(batch))
    for (const Event& event : batch.events()) {
      const auto* mark = std::get_if<Mark>(&event.body);
      const auto* lost = std::get_if<Lost>(&event.body);
      if (mark) out += std::string(mark->text) + " ";
      if (lost) out += std::to_string(lost->count) + " " + std::string(lost->why) + "; ";
      if (!mark && !lost) out += std::to_string(event.seq) + "\n";
    }
  return out;
}

/// Who converts a part gets no trace that hides them, who prints one only those that matter.
TEST(Select, SessionsAndLossesStandInFrontOfStepsThatStay) {
  EXPECT_EQ(picked("kind == \"step\" && (seq == 5 || seq == 6 || seq == 12)"),
            "session 0 note 5\nnote 6\nsession 10 note 12\n120 a, and more; 0 b; ");
  EXPECT_EQ(picked("kind == \"step\" && seq == 44"),
            "15 a; 0 b; session 40 note 44\n105 b; ");
  EXPECT_EQ(picked("kind == \"step\" && seq == 59"),
            "60 a, and more; 0 b; session 50 note 59\n60 b; ");
  EXPECT_EQ(picked("kind == \"step\" && seq == 100"), "");
  EXPECT_EQ(picked("kind == \"lost\""), "15 a; 0 b; 45 b; 60 b; ");
}

/// Hooks of two threads, and what they have lost, each with a number of its own.
class LossyHooks final : public Source {
 public:
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    if (at_ == 12) return false;
    Event& event = batch.add();
    event.seq = at_;
    event.tid = 1 + at_ / 4 % 2;
    event.time_ns = static_cast<int64_t>(100 + at_);
    if (at_ % 4 < 2)
      event.body = Hook();
    else
      event.body = Lost{at_, "no room"};
    ++at_;
    return true;
  }

 private:
  Catalog catalog_;
  uint64_t at_ = 0;
};

std::string picked_hooks(const char* where) {
  auto source = std::make_unique<LossyHooks>();
  Selection selection;
  selection.where = *Expression::parse(where, source->catalog());
  auto selected = select(std::move(source), std::move(selection));
  std::string out;
  Batch batch;
  while (*selected->next(batch))
    for (const Event& event : batch.events()) {
      out += std::to_string(event.seq);
      if (const auto* lost = std::get_if<Lost>(&event.body))
        out += ": " + std::to_string(lost->count) + " of " + std::to_string(event.tid) + " at " +
               std::to_string(event.time_ns.value_or(0));
      out += "; ";
    }
  return out;
}

/// Nobody knows whether what is lost would have been an answer.
TEST(Select, LossesOfHooksStandInFrontOfEventsThatStay) {
  EXPECT_EQ(picked_hooks("kind == \"hook\" && seq == 4"),
            "4: 5 of 1 at 103; 4; 11: 34 of 0 at 111; ");
  EXPECT_EQ(picked_hooks("kind == \"hook\" && tid == 1"),
            "0; 1; 8: 18 of 0 at 107; 8; 9; 11: 21 of 1 at 111; ");
  EXPECT_EQ(picked_hooks("kind == \"hook\" && seq == 100"), "");
  // Another thread's stand in front of them, as they were recorded.
  EXPECT_EQ(picked_hooks("kind == \"lost\" && tid == 2"),
            "6: 5 of 1 at 103; 6: 6 of 2 at 106; 7: 7 of 2 at 107; 11: 21 of 1 at 111; ");
}

// Where nothing is found, the first batch is there when the trace has ended.
TEST(Select, EndsWhenNobodyWaits) {
  for (const bool has_where : {true, false}) {
    auto source = std::make_unique<CountingSource>(1000, false);
    const CountingSource& counter = *source;
    Selection selection;
    if (has_where) selection.where = *Expression::parse("seq == 5000", source->catalog());
    selection.from = has_where ? 0 : 5000;
    int asked = 0;
    selection.work.stop = [&] { return ++asked > 3; };
    auto selected = select(std::move(source), std::move(selection));
    Batch batch;
    EXPECT_FALSE(selected->next(batch).ok());
    EXPECT_TRUE(batch.empty());
    EXPECT_EQ(counter.read, has_where ? 10u : 40u);
    EXPECT_FALSE(*selected->next(batch));
  }
}

/// Pids are asked of processes as they are known by then, also of those that a change names.
TEST(SelectProcesses, ByPidAndByNumber) {
  Catalog catalog;
  catalog.processes = {{.pid = 5}, {.pid = 6}};
  const Process late = {.pid = 5};
  std::vector<Event> events(8);
  const uint32_t of[] = {1, 2, 0, 3, 3, 1, 3, 2};
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].seq = i;
    events[i].process = of[i];
    events[i].body = Hook();
  }
  events[3].seq = 4;
  events[3].tid = 9;
  events[3].body = Change{.kind = Change::Kind::ProcessBegan, .process = &late};
  events[6].body = Change{.kind = Change::Kind::ProcessEnded};
  const auto chosen = [&](const char* where, uint64_t from = 0) {
    Selection selection{from, UINT64_MAX, *Expression::parse(where, catalog)};
    const auto source = select(std::make_unique<test::ListSource>(catalog, events, 3),
                               std::move(selection));
    std::string out;
    Batch batch;
    while (*source->next(batch))
      for (const Event& event : batch.events()) {
        out += is_only_known(event) ? "(known)" : std::string(kEventKinds[event.body.index()]);
        out += std::to_string(event.seq) + " ";
      }
    return out;
  };
  EXPECT_EQ(chosen("pid == 5"), "hook0 change4 hook4 hook5 change6 ");
  EXPECT_EQ(chosen("process == 1"), "hook0 (known)4 hook5 ");
  EXPECT_EQ(chosen("kind == \"change\""), "change4 change6 ");
  EXPECT_EQ(chosen("process == 3", 5), "(known)4 change6 ");
  EXPECT_EQ(chosen("!pid"), "hook2 (known)4 ");
}

}  // namespace
}  // namespace tracewell::filter
