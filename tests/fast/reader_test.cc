// The reader beside writers that go on whenever it hands out a record.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include <sys/mman.h>

#include "fast/counting.h"

namespace tracewell::fast {
namespace {

uint64_t number_of(const RingRecord& record) {
  RecordBlocks blocks(record.blocks);
  const auto block = blocks.next();
  return block ? block->general.rdi : ~uint64_t{0};
}

tracewell_frame_ring& ring_of(Counting& counting, uint32_t ring = 0) {
  return reinterpret_cast<tracewell_frame_ring*>(counting.here.memory().data() +
                                           counting.here.shape().rings_offset())[ring];
}

TEST(FastReader, TakesNoMoreThanThereIsRoomForAtATime) {
  Counting counting({.rings = 1, .ring_bytes = 1 << 16});
  uint64_t hits = 0, next = 0;
  counting.hit(hits++);
  for (int turn = 0; turn < 20; ++turn) {
    uint64_t taken = 0;
    counting.here.reader().take_all([&](const RingRecord& record) {
      ASSERT_EQ(number_of(record), next++);
      ++taken;
      counting.hit(hits++);  // as fast as they are taken
      counting.hit(hits++);
    });
    ASSERT_GT(taken, 0U);
    ASSERT_LE(taken, (1U << 16) / 192);
    if (counting.here.lost() != 0) break;
  }
  EXPECT_LE(hits, 20'000U);
}

TEST(FastReader, StaysRightWhateverTheWriterDoesMeanwhile) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    // Records become shorter than what was reserved for them, so that heads move back.
    Counting counting({.rings = 1, .ring_bytes = 1U << (18 + round % 2)}, 1024);
    counting.here.reader().keep(0);  // what is behind 1 << 18 is given back
    uint64_t hits = 0, taken = 0, next = 0;
    const auto hit = [&](uint64_t most) {
      for (uint64_t many = random() % most; many > 0; --many) counting.hit(hits++);
    };
    for (int turn = 0; turn < 300; ++turn) {
      hit(turn % 7 == 0 ? 1500 : 60);
      counting.here.reader().take_all([&](const RingRecord& record) {
        const uint64_t number = number_of(record);
        ASSERT_GE(number, next);
        next = number + 1;
        ++taken;
        if (random() % 4 == 0) hit(turn % 11 == 0 ? 200 : 6);
      });
    }
    while (counting.here.reader().waiting(0))
      counting.here.reader().take_all([&](const RingRecord&) { ++taken; });
    EXPECT_EQ(taken + counting.here.lost(), hits);
    EXPECT_EQ(counting.here.reader().losses(0).spoiled, 0U);
  }
}

TEST(FastReader, GivesTheRecordsOfAllRingsInTheOrderOfTime) {
  constexpr uint64_t kThreads = 4;
  Counting counting({.rings = 16, .ring_bytes = 1 << 20});
  std::atomic<uint64_t> turn = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = t; i < 1000; i += kThreads) {
        while (turn != i) std::this_thread::yield();
        // Or the processor reads its clock for the hit before it has seen whose turn it is.
        __builtin_ia32_lfence();
        counting.hit(i);
        turn = i + 1;
      }
      while (turn < 1000) std::this_thread::yield();
    });
  for (std::thread& thread : threads) thread.join();
  uint64_t next = 0;
  counting.here.reader().take_all(
      [&](const RingRecord& record) { ASSERT_EQ(number_of(record), next++); });
  EXPECT_EQ(next, 1000U);
}

/// Or a reader that is gone would cost two seconds a hit.
TEST(FastReader, WhoHasWaitedInVainWaitsNoMoreUntilItsOwnRingIsRead) {
  Counting counting({.rings = 4, .ring_bytes = 4096}, 256, true);
  std::atomic<uint64_t> hits = 0;
  std::thread writer([&] {
    for (uint64_t i = 0; i < 1000; ++i) {
      counting.hit(i);
      ++hits;
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  while (hits < 1000) std::this_thread::yield();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  writer.join();
  uint32_t ring = 0;
  while (counting.here.reader().key(ring) == 0) ++ring;
  EXPECT_EQ(ring_of(counting, ring).impatient, 1U);
  counting.here.records();
  EXPECT_EQ(ring_of(counting, ring).impatient, 0U);
}

TEST(FastReader, KnowsOfARecordThatIsNotFinished) {
  Counting counting({.rings = 1, .ring_bytes = 4096});
  counting.hit(1);
  EXPECT_FALSE(counting.here.reader().unfinished(0));
  ring_of(counting).head += 64;  // a thread that got no further
  EXPECT_FALSE(counting.here.reader().unfinished(0)) << "there is another in front of it";
  EXPECT_EQ(counting.here.records().size(), 1U);
  EXPECT_TRUE(counting.here.reader().unfinished(0));
  counting.hit(2);
  EXPECT_TRUE(counting.here.records().empty());
  EXPECT_EQ(counting.here.records(true).size(), 1U);
  EXPECT_FALSE(counting.here.reader().unfinished(0));
}

/// Of data and commit words.
uint64_t resident_bytes(Counting& counting) {
  const AreaShape& shape = counting.here.shape();
  uint8_t* const begin = counting.here.memory().data() + shape.commit_offset();
  std::vector<unsigned char> pages((shape.bytes() - shape.commit_offset()) / 4096);
  EXPECT_EQ(mincore(begin, pages.size() * 4096, pages.data()), 0);
  return 4096 * static_cast<uint64_t>(std::ranges::count_if(pages, [](auto one) {
           return (one & 1) != 0;
         }));
}

TEST(FastReader, GivesBackWhatWasReadOfRingsThatHaveMoreThanTheirShare) {
  constexpr uint32_t kRing = 1 << 22;
  for (const bool all : {true, false}) {
    std::mt19937 random(5);
    Counting counting({.rings = 1, .ring_bytes = kRing}, 1024);
    if (!all) counting.here.reader().keep(RingReader::kKeptMin);
    uint64_t hits = 0, next = 0, most = 0;
    const auto hit = [&](uint64_t many) {
      while (many-- > 0) counting.hit(hits++);
    };
    hit(1000);
    for (int turn = 0; turn < 200; ++turn) {
      counting.here.reader().take_all([&](const RingRecord& record) {
        ASSERT_EQ(number_of(record), next++);
        if (hits - next < 1500) hit(random() % 3);  // so that it is never empty
      });
      hit(random() % 1000);
      most = std::max(most, resident_bytes(counting));
    }
    EXPECT_EQ(counting.here.lost(), 0U);
    EXPECT_GT(hits * 192, 10 * uint64_t{kRing}) << "it has been around";
    // What is kept, what is there to be read, and an eighth that the thread does not know of.
    const uint64_t limit = (RingReader::kKeptMin + 4000 * 192 + kRing / 8) * 9 / 8;
    EXPECT_EQ(most > limit, all) << most;
  }
}

TEST(FastReader, GivesNothingBackThatWasWrittenAfterABeginningAnew) {
  Counting counting({.rings = 1, .ring_bytes = 1 << 20}, 256);
  counting.here.reader().keep(0);
  uint64_t hits = 0, next = 0;
  // The second time it begins at the first byte, and comes further than the first time.
  for (const uint64_t many : {3000, 4000}) {
    for (uint64_t i = 0; i < many; ++i) counting.hit(hits++);
    counting.here.reader().take_all(
        [&](const RingRecord& record) { ASSERT_EQ(number_of(record), next++); });
    EXPECT_EQ(next, hits);
  }
  EXPECT_EQ(ring_of(counting).origin, 1U << 20);
}

}  // namespace
}  // namespace tracewell::fast
