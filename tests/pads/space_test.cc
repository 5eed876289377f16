#include "pads/space.h"

#include <random>

#include <gtest/gtest.h>

namespace tracewell::pads {
namespace {

constexpr uint64_t kBase = 0x7f00'1234'5678;
constexpr uint64_t kHalf = uint64_t{1} << 31;
constexpr Range kAll{PadSpace::kLowest, PadSpace::kHighest};

/// With at most 16 free bits, trying all is quick enough.
std::optional<uint64_t> naive_next(const Pattern& pattern, uint64_t least) {
  std::optional<uint64_t> best;
  const uint32_t free = ~pattern.mask;
  for (uint32_t bits = free;; bits = (bits - 1) & free) {
    const auto distance = static_cast<int32_t>(bits | pattern.value);
    const uint64_t at = pattern.base + static_cast<uint64_t>(int64_t{distance});
    if (at >= least && (!best || at < *best)) best = at;
    if (bits == 0) return best;
  }
}

TEST(Pattern, NextIsTheLowestThatFits) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    Pattern pattern{kBase, 0xffffffff, static_cast<uint32_t>(random())};
    for (int bit = 0; bit < 10; ++bit) pattern.mask &= ~(uint32_t{1} << random() % 32);
    pattern.value &= pattern.mask;
    uint64_t least = kBase - kHalf + random() % (2 * kHalf);
    if (i % 7 == 0) least = 0;
    if (i % 3 == 0) {
      const auto near = naive_next(pattern, least);
      if (near) least = *near + random() % 3 - 1;
    }
    const auto found = pattern.next(least);
    ASSERT_EQ(found, naive_next(pattern, least)) << i;
    ASSERT_TRUE(!found || pattern.holds(*found)) << i;
  }
}

TEST(Pattern, Edges) {
  const Pattern any{kBase, 0, 0};
  EXPECT_EQ(any.next(0), kBase - kHalf);
  EXPECT_EQ(any.next(kBase + kHalf - 1), kBase + kHalf - 1);
  EXPECT_EQ(any.next(kBase + kHalf), std::nullopt);
  EXPECT_TRUE(any.holds(kBase - kHalf));
  EXPECT_FALSE(any.holds(kBase - kHalf - 1));
  EXPECT_FALSE(any.holds(kBase + kHalf));
  const Pattern one{kBase, 0xffffffff, 0xfffffff0};
  EXPECT_EQ(one.next(0), kBase - 16);
  EXPECT_EQ(one.next(kBase - 15), std::nullopt);
  // Of code below 2 GiB, addresses do not begin below 0.
  const Pattern low{0x400000, 0, 0};
  EXPECT_EQ(low.next(0x10000), 0x10000u);
}

TEST(PadSpace, FindsRoomBetweenWhatIsTaken) {
  PadSpace space({{0x20'0000, 0x20'1001}, {0x20'3000, 0x20'4000}});
  const Pattern any{0x30'0000, 0, 0};
  EXPECT_EQ(space.find(any, kAll, 100, 0x20'0000), 0x20'2000u);  // whole pages are taken
  EXPECT_EQ(space.find(any, kAll, 0x1000, 0x20'0000), 0x20'2000u);
  EXPECT_EQ(space.find(any, kAll, 0x1001, 0x20'0000), 0x20'4000u);
  EXPECT_EQ(space.find(any, kAll, 1, 0), PadSpace::kLowest);
  EXPECT_EQ(space.find(any, {0x20'0000, 0x20'2000}, 1, 0), std::nullopt);
  const Pattern ends_in_cc{0x30'0000, 0xff, 0xcc};
  EXPECT_EQ(space.find(ends_in_cc, kAll, 100, 0x20'0000), 0x20'20ccu);
}

TEST(PadSpace, PadsComeAndGo) {
  PadSpace space({});
  const Pattern any{0x30'0000, 0, 0};
  space.place({0x20'0000, 0x20'0100});
  space.place({0x20'0100, 0x20'0200});
  EXPECT_EQ(space.pages(), 1u);
  EXPECT_EQ(space.find(any, kAll, 16, 0x20'0000), 0x20'0200u);
  space.remove({0x20'0080, 0x20'0180});
  EXPECT_FALSE(space.is_free({0x20'0070, 0x20'0090}));
  EXPECT_TRUE(space.is_free({0x20'0080, 0x20'0180}));
  EXPECT_EQ(space.find(any, kAll, 0x100, 0x20'0000), 0x20'0080u);
  space.place({0x20'0ff0, 0x20'1010});
  EXPECT_EQ(space.pages(), 2u);
  space.refuse({0x20'2000, 0x20'2001});
  EXPECT_FALSE(space.is_free({0x20'2ff0, 0x20'2ff8}));
  EXPECT_FALSE(space.is_free({PadSpace::kHighest - 1, PadSpace::kHighest + 1}));
}

TEST(PadSpace, AgreesWithAListOfBytes) {
  std::mt19937 random(3);
  PadSpace space({});
  constexpr uint64_t kFrom = 0x20'0000, kBytes = 2000;
  std::vector<bool> used(kBytes);
  std::vector<Range> pads;
  for (int i = 0; i < 4000; ++i) {
    if (!pads.empty() && random() % 2 == 0) {
      const size_t number = random() % pads.size();
      for (uint64_t at = pads[number].start; at < pads[number].end; ++at) used[at - kFrom] = false;
      space.remove(pads[number]);
      pads.erase(pads.begin() + static_cast<int64_t>(number));
      continue;
    }
    const uint64_t size = 1 + random() % 60, from = kFrom + random() % kBytes;
    uint64_t expected = from;
    const auto free = [&](uint64_t at) {
      for (uint64_t k = at; k < at + size; ++k)
        if (k < kFrom + kBytes && used[k - kFrom]) return false;
      return true;
    };
    while (!free(expected)) ++expected;
    const auto found = space.find({0x30'0000, 0, 0}, kAll, size, from);
    ASSERT_EQ(found, expected);
    const Range pad{*found, *found + size};
    if (pad.end > kFrom + kBytes) continue;
    space.place(pad);
    pads.push_back(pad);
    for (uint64_t at = pad.start; at < pad.end; ++at) used[at - kFrom] = true;
  }
}

}  // namespace
}  // namespace tracewell::pads
