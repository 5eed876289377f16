// What a reader of memory gets where a sample's copy of the stack lies over it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "target/linux/threads/sample.h"

namespace tracewell::target::live {
namespace {

/// A stack of `count` bytes, each of which is 0x80 and its place.
void fill(Sample& sample, uint64_t stack, size_t count) {
  sample.stack = stack;
  sample.bytes.resize(count);
  for (size_t i = 0; i < count; ++i) sample.bytes[i] = static_cast<uint8_t>(0x80 + i);
}

/// Byte by byte: the copy's, or what is there now, of which `got` bytes could be read. What is good
/// ends where the first byte is neither.
std::vector<uint8_t> covered_slowly(const Sample& sample, uint64_t address, size_t size,
                                    size_t got) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < size; ++i) {
    const uint64_t at = address + i - sample.stack;
    if (at < sample.bytes.size()) out.push_back(sample.bytes[at]);
    else if (i < got) out.push_back(static_cast<uint8_t>(i));
    else break;
  }
  return out;
}

TEST(Sample, CoversWhatItMeetsAndNothingElse) {
  for (const uint64_t stack : {uint64_t{0}, uint64_t{5}, uint64_t{0x7fff'0000'0000}}) {
    for (size_t count = 0; count <= 6; ++count) {
      Sample sample;
      fill(sample, stack, count);
      for (uint64_t address = stack - std::min<uint64_t>(stack, 5); address <= stack + 8; ++address)
        for (size_t size = 0; size <= 8; ++size)
          for (size_t got = 0; got <= size; ++got) {
            std::vector<uint8_t> into(size);
            for (size_t i = 0; i < got; ++i) into[i] = static_cast<uint8_t>(i);
            const size_t good = sample.cover(address, into, got);
            const auto slowly = covered_slowly(sample, address, size, got);
            ASSERT_LE(good, size);
            into.resize(good);
            ASSERT_EQ(into, slowly) << stack << "+" << count << " at " << address << ", " << size
                                    << " of which " << got;
          }
    }
  }
}

TEST(Sample, IsMetByWhatOverlapsItsBytes) {
  Sample sample;
  fill(sample, 100, 10);
  EXPECT_TRUE(sample.meets(100, 1));
  EXPECT_TRUE(sample.meets(109, 1));
  EXPECT_TRUE(sample.meets(90, 11));
  EXPECT_TRUE(sample.meets(0, UINT64_MAX));
  EXPECT_FALSE(sample.meets(90, 10));
  EXPECT_FALSE(sample.meets(110, 1));
  EXPECT_FALSE(sample.meets(105, 0));
  EXPECT_FALSE(sample.meets(UINT64_MAX, 1));
}

TEST(Sample, AnyIsThereWhileOneLives) {
  EXPECT_FALSE(Sample::any());
  {
    const Sample one;
    EXPECT_TRUE(Sample::any());
  }
  EXPECT_FALSE(Sample::any());
}

}  // namespace
}  // namespace tracewell::target::live
