// Steps have the numbers that they have in the trace at hand.
#include "filter/step_numbers.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "list_source.h"

namespace tracewell::filter {
namespace {

template <class Body>
Event event(uint64_t seq, Body body) {
  Event out;
  out.seq = seq;
  out.body = std::move(body);
  return out;
}

std::string numbers(std::vector<Event> events) {
  const auto source =
      with_step_numbers(std::make_unique<test::ListSource>(Catalog(), events, /*in_a_batch=*/2));
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
