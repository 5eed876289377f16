// How the memory of a run's rings is divided, for any buffer and any program.
// docs/decisions/0016-the-buffer-size-bounds-memory.md
#include "fast/area.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "fast/hit_here.h"

namespace tracewell::fast {
namespace {

constexpr uint64_t kKib = 1024, kMib = 1024 * kKib;
constexpr uint64_t kLeastRing = 16 * kKib, kLargestRing = 16 * kMib;
constexpr uint64_t kPageBytes = 4096;
constexpr uint32_t kAllRingsMax = 8192;
constexpr uint32_t kThreadCounts[] = {0,   1,    2,    3,     8,       63,      64,
                                      500, 2000, 4000, 32768, 1 << 22, UINT32_MAX};

/// So many have one of their own: each thread, a quarter as many that may come, and one more.
uint64_t wanted_rings(uint32_t threads) {
  return std::max<uint64_t>(uint64_t{threads} + threads / 4 + 1, 3);
}

/// What is left over by rounding: parts begin with a page, and vector states are for rings of one
/// thread alone.
uint64_t remainder(const AreaShape& shape) {
  return 5 * kPageBytes + shape.shared_rings * sizeof(tracewell_vectors);
}

uint64_t bytes_of(uint32_t entries, uint64_t rings, uint64_t shared, uint64_t ring_bytes) {
  const AreaShape shape = {entries, static_cast<uint32_t>(rings), static_cast<uint32_t>(shared),
                           static_cast<uint32_t>(ring_bytes)};
  return shape.bytes();
}

void expect_sizes(const AreaShape& shape, uint32_t threads) {
  EXPECT_TRUE(std::has_single_bit(shape.ring_bytes));
  EXPECT_GE(shape.ring_bytes, kLeastRing);
  EXPECT_LE(shape.ring_bytes, kLargestRing);
  EXPECT_GE(shape.rings, 1U);
  EXPECT_GE(shape.shared_rings, 1U);
  EXPECT_LE(shape.all_rings(), kAllRingsMax);
  EXPECT_TRUE(std::has_single_bit(shape.threads));
  EXPECT_GE(shape.threads, std::clamp<uint64_t>(4 * uint64_t{threads}, 1024, 65536));
}

void expect_bounded(const AreaShape& shape, uint64_t bytes) {
  const uint64_t least = bytes_of(shape.threads, 1, 1, kLeastRing);
  EXPECT_LE(shape.bytes(), std::max(bytes, least));
}

/// No memory is left over that would make more rings.
void expect_all_used(const AreaShape& shape, uint64_t bytes) {
  if (shape.all_rings() == kAllRingsMax) return;
  AreaShape more = shape;
  ++more.rings;
  EXPECT_GT(more.bytes() + remainder(shape), bytes);
}

/// Rings of twice the size would not be enough for all threads.
void expect_largest(const AreaShape& shape, uint64_t bytes, uint32_t threads) {
  const uint64_t wanted = wanted_rings(threads);
  if (shape.ring_bytes == kLargestRing || wanted > kAllRingsMax) return;
  EXPECT_GT(bytes_of(shape.threads, wanted, 1, 2 * shape.ring_bytes) + remainder(shape), bytes);
}

/// Threads share where rings for all of them cannot be, and then a quarter of the rings.
void expect_shared(const AreaShape& shape, uint32_t threads) {
  if (shape.rings >= wanted_rings(threads)) {
    EXPECT_EQ(shape.shared_rings, 1U);
    return;
  }
  if (shape.all_rings() < kAllRingsMax) {
    EXPECT_EQ(shape.ring_bytes, kLeastRing);
  }
  EXPECT_EQ(shape.shared_rings, std::max(shape.all_rings() / 4, 1U));
}

void expect_within(uint64_t bytes, uint32_t threads) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes, " << threads << " threads");
  const AreaShape shape = AreaShape::within(bytes, threads);
  SCOPED_TRACE(testing::Message() << shape.rings << " + " << shape.shared_rings << " rings of "
                                  << shape.ring_bytes << " bytes, " << shape.bytes()
                                  << " bytes in all");
  expect_sizes(shape, threads);
  expect_bounded(shape, bytes);
  expect_all_used(shape, bytes);
  expect_largest(shape, bytes, threads);
  expect_shared(shape, threads);
}

TEST(AreaShape, IsWithinItsBoundAndAsLargeAsCanBe) {
  for (const uint32_t threads : kThreadCounts) {
    for (uint64_t bytes = 1; bytes <= uint64_t{1} << 40; bytes *= 2)
      for (const uint64_t one : {bytes - 1, bytes, bytes + bytes / 2}) expect_within(one, threads);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AreaShape, SoItIsAtRandom) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> bits(10, 40), more_bits(0, 22);
  for (int i = 0; i < 100'000 && !testing::Test::HasFailure(); ++i)
    expect_within(static_cast<uint64_t>(std::exp2(bits(random))),
                  static_cast<uint32_t>(std::exp2(more_bits(random))));
}

/// Where the shape changes: one byte less than a shape takes is not enough for it.
TEST(AreaShape, SoItIsAroundEachShapesOwnSize) {
  for (const uint32_t threads : kThreadCounts)
    for (uint64_t bytes = 256 * kKib; bytes <= 64 * kMib && !testing::Test::HasFailure();
         bytes += 977 * kKib) {
      const uint64_t own = AreaShape::within(bytes, threads).bytes();
      for (const uint64_t one : {own - 1, own, own + 1, own + kPageBytes})
        expect_within(one, threads);
    }
}

TEST(AreaShape, MoreMemoryMakesNoSmallerRingsAndMoreThreadsNoLargerOnes) {
  for (uint64_t bytes = kMib; bytes <= uint64_t{1} << 36; bytes += bytes / 7) {
    uint32_t before = kLargestRing;
    for (const uint32_t threads : kThreadCounts) {
      const uint32_t now = AreaShape::within(bytes, threads).ring_bytes;
      EXPECT_LE(now, before) << bytes << " bytes, " << threads << " threads";
      EXPECT_GE(AreaShape::within(bytes + bytes / 7, threads).ring_bytes, now)
          << bytes << " bytes, " << threads << " threads";
      before = now;
    }
  }
}

/// A run gives rings a quarter of its buffer and 3 MiB.
TEST(AreaShape, OfABufferTheAreaTakesAQuarterAndFourMebibytes) {
  for (const uint32_t threads : kThreadCounts)
    for (uint64_t buffer = 4 * kKib; buffer <= uint64_t{1} << 36; buffer += buffer / 3)
      EXPECT_LE(AreaShape::within(buffer / 4 + 3 * kMib, threads).bytes(), buffer / 4 + 4 * kMib)
          << buffer << " bytes, " << threads << " threads";
}

/// Threads with rings of their own have them alone; all others share, and use all that are shared.
void expect_claims(const AreaShape& shape, uint32_t threads) {
  const std::span<uint8_t> memory = pages(shape.bytes(), PROT_READ | PROT_WRITE);
  make_area(memory, shape);
  std::map<uint32_t, uint32_t> users;
  uint32_t sharing = 0;
  for (uint32_t i = 0; i < threads; ++i) {
    const uint64_t key = 0x7f0000000740 + i * uint64_t{0x801000};
    const RingPlace place = claim_ring(memory, shape, key, i + 1);
    ASSERT_EQ(place.is_shared, place.ring >= shape.rings);
    ASSERT_LT(place.ring, shape.all_rings());
    sharing += place.is_shared;
    ASSERT_TRUE(++users[place.ring] == 1 || place.is_shared) << "ring " << place.ring;
    EXPECT_EQ(claim_ring(memory, shape, key, i + 1).ring, place.ring) << "once more";
  }
  EXPECT_EQ(sharing, threads - std::min(threads, shape.rings));
  EXPECT_EQ(users.size(), std::min(threads, shape.rings) + (sharing > 0 ? shape.shared_rings : 0));
  munmap(memory.data(), memory.size());
}

TEST(AreaShape, ThreadsShareBehindTheBudgetAlone) {
  for (const uint32_t threads : {1U, 8U, 64U, 500U, 4000U})
    for (const uint64_t bytes : {4 * kMib, 28 * kMib, 256 * kMib}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, " << threads << " threads");
      const AreaShape shape = AreaShape::within(bytes, threads);
      expect_claims(shape, threads);
      EXPECT_EQ(shape.rings < threads, threads > bytes / (26 * kKib));
    }
}

}  // namespace
}  // namespace tracewell::fast
