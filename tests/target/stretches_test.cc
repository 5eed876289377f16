// Stretches: what is known of a place is found without a look at all of them.
#include "target/linux/memory/stretches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tracewell::target::live {
namespace {

TEST(Stretches, AreFoundByAnyOfTheirBytes) {
  Stretches<std::string> all;
  EXPECT_EQ(all.at(0), nullptr);
  EXPECT_FALSE(all.meet(0, UINT64_MAX));
  all.put(100, 5, "a");
  all.put(105, 1, "b");
  all.put(UINT64_MAX - 3, 4, "end");
  EXPECT_EQ(all.at(99), nullptr);
  EXPECT_EQ(*all.at(100), "a");
  EXPECT_EQ(*all.at(104), "a");
  EXPECT_EQ(*all.at(105), "b");
  EXPECT_EQ(all.at(106), nullptr);
  EXPECT_EQ(*all.at(UINT64_MAX), "end");
  EXPECT_FALSE(all.meet(90, 10));
  EXPECT_TRUE(all.meet(90, 11));
  EXPECT_TRUE(all.meet(104, 1));
  EXPECT_FALSE(all.meet(104, 0));
  EXPECT_FALSE(all.meet(106, 1000));
  all.erase(100);
  EXPECT_EQ(all.at(100), nullptr);
  all.put(105, 3, "c");
  EXPECT_EQ(*all.at(107), "c");
}

TEST(Stretches, SayTheSameAsALookAtAllOfThem) {
  std::mt19937 random(5);
  Stretches<uint64_t> all;
  std::vector<std::pair<uint64_t, uint64_t>> known;
  for (uint64_t at = 0; at < 3000;) {
    const uint64_t size = 1 + random() % 9;
    all.put(at, size, at);
    known.emplace_back(at, size);
    at += size + random() % 4;
  }
  for (int i = 0; i < 10000; ++i) {
    const uint64_t address = random() % 3100, bytes = random() % 40;
    std::vector<uint64_t> expected, found;
    for (const auto& [at, size] : known)
      if (at < address + bytes && address < at + size && bytes != 0) expected.push_back(at);
    all.each_meeting(address, bytes, [&](uint64_t at, uint64_t what) {
      EXPECT_EQ(at, what);
      found.push_back(at);
    });
    ASSERT_EQ(found, expected) << address << " " << bytes;
  }
}

/// As with 3000 tracepoints: each hit asks where it is, each read what lies over it.
TEST(Stretches, AFewAreLookedAtHoweverManyThereAre) {
  const auto looks = [](uint64_t count) {
    Stretches<int> all;
    for (uint64_t i = 0; i < count; ++i) all.put(64 * i, 5, 0);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_NE(all.at(64 * i + 3), nullptr);
      EXPECT_EQ(all.at(64 * i + 9), nullptr);
      EXPECT_TRUE(all.meet(64 * i + 2, 8));
    }
    return static_cast<double>(all.looked_at());
  };
  EXPECT_LE(std::log(looks(3000) / looks(375)) / std::log(8), 1.01);
  EXPECT_LE(looks(3000), 4 * 3 * 3000);
}

}  // namespace
}  // namespace tracewell::target::live
