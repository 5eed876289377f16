// What it costs to empty a table that was large once.
#include "base/begin_anew.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

TEST(BeginAnew, AWideTableGivesItsRoomBack) {
  std::unordered_map<uint64_t, uint64_t> table;
  for (uint64_t i = 0; i < 100'000; ++i) table[i] = i;
  begin_anew(table);
  EXPECT_TRUE(table.empty());
  table[1] = 2;
  begin_anew(table);
  EXPECT_TRUE(table.empty());
  EXPECT_LT(table.bucket_count(), 1000u) << "clear() would go over so many, each time";
  EXPECT_FALSE(table.contains(1));
}

TEST(BeginAnew, ASmallTableKeepsItsRoom) {
  std::unordered_set<uint64_t> table = {1, 2, 3};
  const size_t room = table.bucket_count();
  begin_anew(table);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.bucket_count(), room);
}

}  // namespace
}  // namespace tracewell
