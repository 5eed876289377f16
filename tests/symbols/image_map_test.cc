#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/image_map.h"

#include "symbols/elf_builder.h"

namespace tracewell::symbols {
namespace {

std::shared_ptr<const Image> image(const TestElf& elf) {
  auto owner = shared_bytes(elf.build());
  auto result = Image::parse(*owner, owner, "test");
  EXPECT_TRUE(result);
  return *result;
}

TestElf pie(uint8_t fill) {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R | PF_X, fill}, {0x2000, 0x10, PF_R | PF_W, 0}};
  return elf;
}

TEST(ImageSpec, FileAndBase) {
  EXPECT_EQ(parse_image_spec("a.out").path, "a.out");
  EXPECT_FALSE(parse_image_spec("a.out").base);
  EXPECT_EQ(parse_image_spec("a.out@0x1000").path, "a.out");
  EXPECT_EQ(parse_image_spec("a.out@0x1000").base, 0x1000u);
  EXPECT_EQ(parse_image_spec("a.out@4096").base, 4096u);
  EXPECT_EQ(parse_image_spec("me@home/a.out").path, "me@home/a.out");
  EXPECT_EQ(parse_image_spec("me@home/a.out@0x1").path, "me@home/a.out");
  EXPECT_EQ(parse_image_spec("a@").path, "a@");
  EXPECT_EQ(parse_image_spec("@5").path, "@5");
}

TEST(ImageMap, ReadsAtTheLoadAddress) {
  ImageMap map;
  ASSERT_TRUE(map.add(image(pie(0x41)), 0x555555554000));
  ASSERT_TRUE(map.add(image(pie(0x42)), 0x7ffff7c00000));
  std::vector<uint8_t> into(4);
  EXPECT_EQ(map.read(0x555555554200, into), 4u);
  EXPECT_EQ(into[0], 0x41);
  EXPECT_EQ(map.read(0x7ffff7c003ff, into), 1u);
  EXPECT_EQ(into[0], 0x42);
  EXPECT_EQ(map.read(0x200, into), 0u);
  EXPECT_TRUE(map.covers(0x555555554000, 0x400));
  EXPECT_FALSE(map.covers(0x555555554000, 0x401));
  ASSERT_NE(map.find(0x555555556008), nullptr);
  EXPECT_EQ(map.find(0x555555556008)->start(), 0x555555554000u);
  EXPECT_EQ(map.find(0x555555557000), nullptr);
  EXPECT_EQ(map.find(0), nullptr);
}

TEST(ImageMap, RefusesImpossibleBases) {
  ImageMap map;
  EXPECT_EQ(map.add(image(pie(1)), 0x555555554010).error().code, Errc::InvalidArgument);
  TestElf fixed;
  fixed.type = ET_EXEC;
  fixed.segments = {{0x400000, 0x400, PF_R | PF_X, 7}};
  EXPECT_EQ(map.add(image(fixed), 0x500000).error().code, Errc::InvalidArgument);
  EXPECT_TRUE(map.add(image(fixed), 0x400000));
  EXPECT_TRUE(map.add(image(fixed), std::nullopt));
  EXPECT_EQ(map.images().back().start(), 0x400000u);
  TestElf small = pie(1);
  small.is_64 = false;
  EXPECT_EQ(map.add(image(small), 0x100000000).error().code, Errc::InvalidArgument);
}

TEST(ImageMap, BiasOf32BitFilesWraps) {
  TestElf elf;
  elf.is_64 = false;
  elf.segments = {{0x8000000, 0x400, PF_R | PF_X, 9}};
  ImageMap map;
  ASSERT_TRUE(map.add(image(elf), 0x1000));
  uint8_t byte = 0;
  EXPECT_EQ(map.read(0x1200, {&byte, 1}), 1u);
  EXPECT_EQ(byte, 9);
  EXPECT_EQ(map.images()[0].start(), 0x1000u);
  EXPECT_EQ(map.images()[0].at(0x8000200), 0x1200u);
  EXPECT_EQ(map.images()[0].link_address(0x1200), 0x8000200u);
}

TEST(ImageMap, TheFirstImageHasAnAddress) {
  ImageMap map;
  ASSERT_TRUE(map.add(image(pie(1)), 0x10000));  // up to 0x12010
  ASSERT_TRUE(map.add(image(pie(2)), 0x11000));
  ASSERT_TRUE(map.add(image(pie(3)), 0x10000));
  EXPECT_EQ(map.find(0x12000), &map.images()[0]);
  EXPECT_EQ(map.find(0x12010), &map.images()[1]);
  EXPECT_EQ(map.find(0x1300f), &map.images()[1]);
  EXPECT_EQ(map.find(0x13010), nullptr);
}

// Around the end of the address space, and beside those of 64 bits, which have an address more.
TEST(ImageMap, SpansOf32BitFilesWrap) {
  TestElf small = pie(1);
  small.is_64 = false;
  ImageMap map;
  map.add_at_bias(image(small), 0xfffff000);
  map.add_at_bias(image(pie(2)), 0x100000000);
  EXPECT_EQ(map.find(0xffffefff), nullptr);
  EXPECT_EQ(map.find(0xfffff000), &map.images()[0]);
  EXPECT_EQ(map.find(0), &map.images()[0]);
  EXPECT_EQ(map.find(0x100f), &map.images()[0]);
  EXPECT_EQ(map.find(0x1010), nullptr);
  EXPECT_EQ(map.find(0x10000100f), &map.images()[0]);
  EXPECT_EQ(map.find(0x100001010), &map.images()[1]);
  map.add_at_bias(image(pie(3)), 0xfffffffffffff000);
  EXPECT_EQ(map.find(UINT64_MAX), &map.images()[0]) << "of which the low half is an address of it";
  EXPECT_EQ(map.find(0x1010), nullptr);
}

TEST(FirstRangeIndex, AgreesWithAWalk) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    struct Range {
      uint64_t first, last;
    };
    std::vector<Range> all;
    FirstRangeIndex index;
    const uint64_t base = round % 2 == 0 ? 0 : UINT64_MAX - 31;
    for (size_t i = 0; i < random() % 12; ++i) {
      const uint64_t one = base + random() % 32, other = base + random() % 32;
      all.push_back({std::min(one, other), std::max(one, other)});
      index.add(all.back().first, all.back().last, i);
    }
    for (uint64_t i = 0; i < 32; ++i) {
      std::optional<size_t> expected;
      for (size_t k = all.size(); k-- > 0;)
        if (all[k].first <= base + i && base + i <= all[k].last) expected = k;
      ASSERT_EQ(index.find(base + i), expected) << "round " << round << ", address " << i;
    }
  }
}

}  // namespace
}  // namespace tracewell::symbols
