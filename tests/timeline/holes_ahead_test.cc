// Holes are found by steps that get wider; they are those that looking at each place finds.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "timeline/diff/holes.h"

namespace tracewell::timeline {
namespace {

std::vector<uint64_t> some_numbers(std::mt19937& random, uint64_t every) {
  std::vector<uint64_t> out;
  uint64_t seq = random() % 5;
  for (size_t left = random() % 60; left > 0; --left) {
    out.push_back(seq);
    seq += 1 + random() % every;
  }
  return out;
}

TEST(HolesAhead, AreThoseOfEachPlace) {
  std::mt19937 random(5);
  size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<uint64_t> behind = some_numbers(random, 1 + random() % 20);
    std::vector<Place> places;
    for (const uint64_t seq : some_numbers(random, 1 + random() % 20)) {
      places.emplace_back();
      places.back().seq = seq;
    }
    Holes holes(behind);
    size_t passed = 0, from = 0;  // of `behind`; of `places`
    while (true) {
      std::optional<size_t> expected;
      for (size_t i = 0; i < places.size() && !expected && passed < behind.size(); ++i)
        if (places[i].seq >= behind[passed]) expected = i;
      ASSERT_EQ(holes.next(places), expected);
      ASSERT_EQ(holes.next(places, from), expected);
      if (!expected) break;
      ++found;
      ASSERT_EQ(holes.first(), behind[passed]);
      from = *expected;
      holes.pass(places[from].seq);
      while (passed < behind.size() && behind[passed] <= places[from].seq) ++passed;
      ASSERT_EQ(holes.over(), passed == behind.size());
    }
  }
  EXPECT_GT(found, 1000u);
}

}  // namespace
}  // namespace tracewell::timeline
