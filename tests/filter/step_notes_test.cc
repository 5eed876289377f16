#include "filter/step_notes.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tracewell::filter {
namespace {

/// Steps by number, three a batch; a mark of its own before the third.
class Steps final : public Source, public Seekable {
 public:
  Steps(std::vector<uint64_t> numbers, bool seekable)
      : numbers_(std::move(numbers)), seekable_(seekable) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 3 && at_ < numbers_.size(); ++i, ++at_) {
      if (at_ == 2) {
        Event& mark = batch.add();
        mark.seq = numbers_[at_];
        mark.body = Mark{.text = "own"};
      }
      Event& step = batch.add();
      step.seq = numbers_[at_];
      step.body = Step();
    }
    return !batch.empty();
  }
  Seekable* seekable() override { return seekable_ ? this : nullptr; }
  uint64_t count() const override { return numbers_.size(); }
  Status seek(uint64_t seq) override {
    at_ = seq;
    return {};
  }

 private:
  Catalog catalog_;
  std::vector<uint64_t> numbers_;
  bool seekable_;
  size_t at_ = 0;
};

std::string all(Source& source) {
  std::string out;
  Batch batch;
  while (*source.next(batch))
    for (const Event& event : batch.events()) {
      const auto* mark = std::get_if<Mark>(&event.body);
      if (mark) out += std::string(mark->text) + "@";
      out += std::to_string(event.seq) + " ";
    }
  return out;
}

const std::vector<Note> kNotes = {{0, "a"}, {2, "b"}, {2, "c"}, {4, "d"}, {5, "end"}, {99, "far"}};

TEST(StepNotes, StandInFrontOfTheirSteps) {
  Steps steps({0, 1, 2, 3, 4}, true);
  EXPECT_EQ(all(*with_notes(std::make_unique<Steps>(steps), kNotes, false)),
            "a@0 0 1 own@2 b@2 c@2 2 3 d@4 4 end@5 far@5 ");
}

TEST(StepNotes, CountStepsWhereNumbersSayNothing) {
  Steps steps({7, 5, 30, 30, 2}, false);
  EXPECT_EQ(all(*with_notes(std::make_unique<Steps>(steps), kNotes, false)),
            "a@7 7 5 own@30 b@30 c@30 30 30 d@2 2 end@5 far@5 ");
}

TEST(StepNotes, FollowWhoeverSeeks) {
  auto noted = with_notes(std::make_unique<Steps>(std::vector<uint64_t>{0, 1, 2, 3, 4}, true),
                          kNotes, false);
  ASSERT_TRUE(noted->seekable()->seek(3).ok());
  EXPECT_EQ(all(*noted), "3 d@4 4 end@5 far@5 ");
}

TEST(StepNotes, StandInsteadOfMarks) {
  Steps steps({0, 1, 2, 3, 4}, false);
  EXPECT_EQ(all(*with_notes(std::make_unique<Steps>(steps), kNotes, true)),
            "a@0 0 1 b@2 c@2 2 3 d@4 4 end@5 far@5 ");
  EXPECT_EQ(all(*with_notes(std::make_unique<Steps>(steps), {}, true)), "0 1 2 3 4 ");
}

}  // namespace
}  // namespace tracewell::filter
