// Steps have the numbers that they have in the trace at hand.
#include "filter/step_numbers.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::filter {
namespace {

/// Two events at a time.
class Listed final : public Source {
 public:
  explicit Listed(std::vector<Event> events) : events_(std::move(events)) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 2 && at_ < events_.size(); ++i) batch.add() = events_[at_++];
    return !batch.empty();
  }

 private:
  Catalog catalog_;
  std::vector<Event> events_;
  size_t at_ = 0;
};

template <class Body>
Event event(uint64_t seq, Body body) {
  Event out;
  out.seq = seq;
  out.body = std::move(body);
  return out;
}

std::string numbers(std::vector<Event> events) {
  const auto source = with_step_numbers(std::make_unique<Listed>(std::move(events)));
  std::string out;
  Batch batch;
  while (*source->next(batch))
    for (const Event& one : batch.events()) out += fmt::format("{} ", one.seq);
  return out;
}

TEST(StepNumbers, CountFromTheFirst) {
  EXPECT_EQ(numbers({event(20, Step()), event(21, Mark()), event(21, Step()), event(30, Lost()),
                     event(30, Step()), event(31, Mark())}),
            "0 1 1 2 2 3 ");
  EXPECT_EQ(numbers({event(20, Mark()), event(20, Step()), event(7, Step())}), "0 0 1 ");
}

TEST(StepNumbers, OtherTracesKeepTheirs) {
  EXPECT_EQ(numbers({event(3, Mark()), event(5, Frame()), event(9, Step())}), "3 5 9 ");
  EXPECT_EQ(numbers({event(4, Hook()), event(9, Hook())}), "4 9 ");
}

}  // namespace
}  // namespace tracewell::filter
