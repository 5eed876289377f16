// The quick way to a block's size against the thorough one.
#include "formats/trace64/blocks/block.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tracewell::formats::trace64 {
namespace {

TEST(Trace64Block, APlainOneHasTheSizeThatReadingItFinds) {
  std::mt19937_64 random(1);
  for (const Shape& shape : {kX64, kX32}) {
    uint64_t plain = 0, left = 0;
    for (int i = 0; i < 200'000; ++i) {
      std::vector<uint8_t> bytes(kBlockBytesMax);
      for (size_t at = 0; at < 256; ++at) bytes[at] = static_cast<uint8_t>(random());
      // Near the borders of what is plain, and of what is a block.
      bytes[0] = random() % 8 == 0 ? static_cast<uint8_t>(random()) : 0;
      bytes[1] = static_cast<uint8_t>(random() % 11);
      bytes[2] = static_cast<uint8_t>(random() % 11);
      bytes[3] = static_cast<uint8_t>(random() % 18 | (random() % 8 == 0 ? random() & 0xf0 : 0));
      const uint8_t small = static_cast<uint8_t>(random() % 64 + 1);
      for (size_t at = 4; at < 32; ++at) bytes[at] %= small;
      // Of accesses, most have no flags that nobody knows.
      const size_t flags = 4u + (bytes[3] & 15u) + bytes[1] * (1u + shape.word);
      for (size_t at = flags; at < flags + bytes[2] && random() % 16 != 0; ++at) bytes[at] &= 1;
      const uint64_t size = plain_block_size(bytes.data(), shape);
      Block block;
      const Reading reading = read_block(bytes, 0, shape, false, block);
      const bool is_plain = reading == Reading::Whole && !block.is_user() &&
                            (block.flags & 0xf0) == 0 && !has_odd_flags(block) &&
                            !block.opcode.empty() &&
                            block.register_count <= 8 && block.memory_count <= 8;
      ASSERT_EQ(size, is_plain ? block.size : 0) << i;
      ++(is_plain ? plain : left);
    }
    EXPECT_GT(plain, 50'000u);
    EXPECT_GT(left, 20'000u);
  }
}

}  // namespace
}  // namespace tracewell::formats::trace64
