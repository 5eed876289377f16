// Both variants eat blocks, then what is left over as if zeros followed it, then the length, and
// stir at the end until every bit of the input has reached every bit of the result. Numbers are
// little-endian by definition here: the original leaves that to the machine it runs on.
#include "base/murmur3.h"

#include <bit>

#include "base/endian.h"

namespace tracewell {
namespace {

uint64_t load(Bytes bytes) { return load_uint(bytes.data(), bytes.size(), Endian::Little); }

uint32_t stir(uint32_t hash) {
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

uint64_t stir(uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

uint32_t scrambled(uint32_t word) { return std::rotl(word * 0xcc9e2d51, 15) * 0x1b873593; }

constexpr uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;
uint64_t scrambled_low(uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; }
uint64_t scrambled_high(uint64_t word) { return std::rotl(word * kSecond, 33) * kFirst; }

}  // namespace

uint32_t murmur3_x86_32(Bytes bytes, uint32_t seed) {
  constexpr size_t kBlock = 4;
  const auto size = static_cast<uint32_t>(bytes.size());
  uint32_t hash = seed;
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) {
    hash ^= scrambled(static_cast<uint32_t>(load(bytes.first(kBlock))));
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64;
  }
  hash ^= scrambled(static_cast<uint32_t>(load(bytes)));  // of nothing it is 0
  return stir(hash ^ size);
}

std::array<uint64_t, 2> murmur3_x64_128(Bytes bytes, uint32_t seed) {
  constexpr size_t kHalf = 8, kBlock = 16;
  const uint64_t size = bytes.size();
  uint64_t low = seed, high = seed;
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) {
    low ^= scrambled_low(load(bytes.first(kHalf)));
    low = (std::rotl(low, 27) + high) * 5 + 0x52dce729;
    high ^= scrambled_high(load(bytes.subspan(kHalf, kHalf)));
    high = (std::rotl(high, 31) + low) * 5 + 0x38495ab5;
  }
  const Bytes first = bytes.first(bytes.size() < kHalf ? bytes.size() : kHalf);
  low ^= scrambled_low(load(first));
  high ^= scrambled_high(load(bytes.subspan(first.size())));
  low ^= size;
  high ^= size;
  low += high;
  high += low;
  low = stir(low);
  high = stir(high);
  low += high;
  high += low;
  return {low, high};
}

}  // namespace tracewell
