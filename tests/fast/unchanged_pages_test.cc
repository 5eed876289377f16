#include "fast/unchanged_pages.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fast/record.h"

namespace tracewell::fast {
namespace {

/// Addresses of single bytes of ours.
class Changed {
 public:
  explicit Changed(std::set<uint64_t> places)
      : places_(std::move(places)), pages([this](uint64_t address, uint64_t bytes) {
          ++asked;
          return meets(address, bytes);
        }) {
    pages.forget({*places_.begin(), *places_.rbegin() + 1});
  }
  bool meets(uint64_t address, uint64_t bytes) const {
    const auto found = places_.lower_bound(address);
    return found != places_.end() && *found - address < bytes;
  }

 private:
  std::set<uint64_t> places_;

 public:
  int asked = 0;
  UnchangedPages pages;
};

/// Between a breakpoint in a program and one in its loader there is all of its memory.
TEST(UnchangedPages, ArePlainBetweenTwoBreakpoints) {
  Changed changed({0x401600, 0x7ffff7fcc060});
  std::vector<uint8_t> block(19), into(19);
  block[0] = 'M';
  const auto is_plain = [&](uint64_t address) {
    std::memcpy(&block[1], &address, sizeof address);
    block[9] = 8;
    return copy_plain(block, changed.pages, into) && into == block;
  };
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(is_plain(0x404078));
  EXPECT_EQ(changed.asked, 1);
  EXPECT_FALSE(is_plain(0x4015fc));
  EXPECT_FALSE(is_plain(0x7ffff7fcc060));
  EXPECT_TRUE(is_plain(0x1000));
  EXPECT_TRUE(is_plain(0x7fffffffe000));
}

TEST(UnchangedPages, NeverHoldWhatIsChanged) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::set<uint64_t> places;
    const uint64_t base = round % 2 == 0 ? 0x10000 : ~uint64_t{0} - 0xfffff;
    for (uint64_t i = random() % 9; i < 10; ++i) places.insert(base + random() % 0xff000);
    Changed changed(places);
    int held = 0;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t address = base + random() % 0x100000;
      const uint64_t bytes = random() % 5 == 0 ? random() % 0xffff : random() % 16;
      const bool holds = changed.pages.hold(address, bytes);
      ASSERT_FALSE(holds && changed.meets(address, bytes)) << address << " " << bytes;
      held += holds ? 1 : 0;
    }
    EXPECT_GT(held, 200);
  }
}

TEST(UnchangedPages, AreAskedAboutAgainWhenSomethingMayHaveChanged) {
  Changed changed({0x1000, 0x9000});
  EXPECT_TRUE(changed.pages.hold(0x5000, 8));
  EXPECT_TRUE(changed.pages.hold(0x5008, 8));
  EXPECT_EQ(changed.asked, 1);
  changed.pages.forget({0x1000, 0x9001});
  EXPECT_TRUE(changed.pages.hold(0x5000, 8));
  EXPECT_EQ(changed.asked, 2);
}

}  // namespace
}  // namespace tracewell::fast
