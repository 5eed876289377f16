#include "base/murmur3.h"

#include <vector>

#include <gtest/gtest.h>

namespace tracewell {
namespace {

uint32_t hash_32(std::string_view text, uint32_t seed) {
  return murmur3_x86_32(as_bytes(text), seed);
}

// Published with the many implementations of this variant.
TEST(Murmur3, KnownAnswers32) {
  EXPECT_EQ(hash_32("", 0), 0u);
  EXPECT_EQ(hash_32("", 1), 0x514e28b7u);
  EXPECT_EQ(hash_32("", 0xffffffff), 0x81f16f39u);
  EXPECT_EQ(hash_32("\xff\xff\xff\xff", 0), 0x76293b50u);
  EXPECT_EQ(hash_32("\x21\x43\x65\x87", 0), 0xf55b516bu);
  EXPECT_EQ(hash_32("\x21\x43\x65\x87", 0x5082edee), 0x2362f9deu);
  EXPECT_EQ(hash_32("\x21\x43\x65", 0), 0x7e4a8634u);
  EXPECT_EQ(hash_32("\x21\x43", 0), 0xa0f7b07au);
  EXPECT_EQ(hash_32("\x21", 0), 0x72661cf4u);
  EXPECT_EQ(hash_32("Hello, world!", 0x9747b28c), 0x24884cbau);
  EXPECT_EQ(hash_32("The quick brown fox jumps over the lazy dog", 0x9747b28c), 0x2fa826cdu);
}

TEST(Murmur3, KnownAnswers128) {
  using Halves = std::array<uint64_t, 2>;
  EXPECT_EQ(murmur3_x64_128({}, 0), (Halves{0, 0}));
  EXPECT_EQ(murmur3_x64_128(as_bytes("The quick brown fox jumps over the lazy dog"), 0),
            (Halves{0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347}));
}

/// SMHasher's own check of an implementation: the hashes of 0, 0 1, 0 1 2, … (256 keys, with seeds
/// from 256 down) are hashed once more; the first four bytes are known.
template <class Hash>
uint32_t verification(size_t hash_bytes, Hash&& hash) {
  std::vector<uint8_t> key, all;
  for (uint32_t i = 0; i < 256; ++i) {
    const std::vector<uint8_t> one = hash(key, 256 - i);
    EXPECT_EQ(one.size(), hash_bytes);
    all.insert(all.end(), one.begin(), one.end());
    key.push_back(static_cast<uint8_t>(i));
  }
  return static_cast<uint32_t>(load_uint(hash(all, 0).data(), 4, Endian::Little));
}

TEST(Murmur3, SmhasherVerification) {
  EXPECT_EQ(verification(4,
                         [](const std::vector<uint8_t>& key, uint32_t seed) {
                           std::vector<uint8_t> out;
                           ByteWriter(out, Endian::Little).uint(murmur3_x86_32(key, seed), 4);
                           return out;
                         }),
            0xb0f57ee3u);
  EXPECT_EQ(verification(16,
                         [](const std::vector<uint8_t>& key, uint32_t seed) {
                           std::vector<uint8_t> out;
                           ByteWriter writer(out, Endian::Little);
                           for (uint64_t half : murmur3_x64_128(key, seed)) writer.uint(half, 8);
                           return out;
                         }),
            0x6384ba69u);
}

}  // namespace
}  // namespace tracewell
