// The reader beside writers that go on whenever it hands out a record.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
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
    counting.here.reader().take_all(each([&](const RingRecord& record) {
      ASSERT_EQ(number_of(record), next++);
      ++taken;
      counting.hit(hits++);  // as fast as they are taken
      counting.hit(hits++);
    }));
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
    constexpr size_t kVisited[] = {1, 3, RingReader::kVisitedAtOnce};
    Counting counting({.rings = 1, .ring_bytes = 1U << (18 + round % 2)}, 1024, false,
                      kVisited[round % 3]);
    uint64_t hits = 0, taken = 0, next = 0;
    const auto hit = [&](uint64_t most) {
      for (uint64_t many = random() % most; many > 0; --many) counting.hit(hits++);
    };
    for (int turn = 0; turn < 300; ++turn) {
      hit(turn % 7 == 0 ? 1500 : 60);
      counting.here.reader().take_all(each([&](const RingRecord& record) {
        const uint64_t number = number_of(record);
        ASSERT_GE(number, next);
        next = number + 1;
        ++taken;
        if (random() % 4 == 0) hit(turn % 11 == 0 ? 200 : 6);
      }));
    }
    while (counting.here.reader().waiting(0))
      counting.here.reader().take_all(each([&](const RingRecord&) { ++taken; }));
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
      each([&](const RingRecord& record) { ASSERT_EQ(number_of(record), next++); }));
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
  while (!counting.here.reader().is_owned(ring)) ++ring;
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

/// The commit word of a ring's record; all of them are as long.
std::atomic_ref<uint32_t> commit_of(Counting& counting, uint32_t record) {
  const AreaShape& shape = counting.here.shape();
  auto* const words =
      reinterpret_cast<uint32_t*>(counting.here.memory().data() + shape.commit_offset());
  return std::atomic_ref(words[record * (words[0] & ~TRACEWELL_RECORD_OPEN)]);
}

void reopen(Counting& counting, std::initializer_list<uint32_t> records) {
  for (const uint32_t record : records) commit_of(counting, record) |= TRACEWELL_RECORD_OPEN;
}

/// Of threads that share a ring, or handlers of signals in a hit.
TEST(FastReader, CountsEachOfThoseThatWereBegunOneBehindTheOther) {
  Counting counting({.rings = 1, .ring_bytes = 1 << 14});
  for (uint64_t i = 0; i < 6; ++i) counting.hit(i);
  reopen(counting, {1, 2, 3});
  EXPECT_EQ(counting.here.records(true).size(), 3U);
  EXPECT_EQ(counting.here.reader().losses(0).unfinished, 3U);
}

TEST(FastReader, OfARingThatEndsNothingIsLeftBehindAHitThatIsUnderWay) {
  Counting counting({.rings = 1, .ring_bytes = 1 << 14});
  for (uint64_t i = 0; i < 9; ++i) counting.hit(i);
  reopen(counting, {0, 3, 4});
  RingReader& reader = counting.here.reader();
  reader.conclude();
  std::vector<uint64_t> taken;
  const auto visit =
      each([&](const RingRecord& record) { taken.push_back(number_of(record)); });
  std::atomic<bool> ended = false;
  std::thread thread([&] {  // the first hit's, which gets to its end meanwhile
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    commit_of(counting, 0) &= ~TRACEWELL_RECORD_OPEN;
    ended = true;
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  reader.take_rest(0, until, visit, {});
  thread.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(taken, (std::vector<uint64_t>{0, 1, 2, 5, 6, 7, 8}));
  EXPECT_EQ(reader.losses(0).unfinished, 2U);
}

constexpr auto kAtOnce = [](uint64_t) { return true; };

/// Hits of as many threads, turn by turn, all of which are there still when it returns.
void hit_in_turns(Counting& counting, uint64_t threads, uint64_t hits) {
  std::atomic<uint64_t> turn = 0;
  std::vector<std::thread> all;
  for (uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (uint64_t i = t; i < hits; i += threads) {
        while (turn != i) std::this_thread::yield();
        __builtin_ia32_lfence();
        counting.hit(i);
        turn = i + 1;
      }
      while (turn < hits) std::this_thread::yield();
    });
  for (std::thread& thread : all) thread.join();
}

TEST(FastReader, GoesOnInTheOrderOfTimeWhereItHasLeftOff) {
  Counting counting({.rings = 16, .ring_bytes = 1 << 20});
  hit_in_turns(counting, 3, 3000);
  uint64_t next = 0, calls = 0;
  do {
    counting.here.reader().take_all(
        each([&](const RingRecord& record) { ASSERT_EQ(number_of(record), next++); }), kAtOnce);
    ++calls;
  } while (counting.here.reader().left_off());
  EXPECT_EQ(next, 3000U);
  EXPECT_GT(calls, 3U);
  EXPECT_EQ(counting.here.lost(), 0U);
}

/// A ring whose program has written over it: full at all times, of records that never were, all of
/// them earlier than everybody else's.
class Lying {
 public:
  Lying(Counting& counting, uint32_t ring) : counting_(counting), ring_(ring) {
    const AreaShape& shape = counting.here.shape();
    ring_of(counting, ring).owner = 0x1000;
    uint8_t* const data = memory() + shape.data_offset() + ring * uint64_t{shape.ring_bytes};
    tracewell_frame_record record{};
    record.bytes = sizeof record;
    for (uint64_t at = 0; at < shape.ring_bytes; at += TRACEWELL_CELL)
      std::memcpy(data + at, &record, sizeof record);
    fill();
  }
  void fill() {
    const AreaShape& shape = counting_.here.shape();
    auto* const words = reinterpret_cast<uint32_t*>(memory() + shape.commit_offset()) +
                        ring_ * shape.cells();
    std::fill_n(words, shape.cells(), 1U);
    ring_of(counting_, ring_).head = ring_of(counting_, ring_).tail + shape.ring_bytes;
  }

 private:
  uint8_t* memory() { return counting_.here.memory().data(); }
  Counting& counting_;
  uint32_t ring_;
};

uint32_t free_ring(Counting& counting) {
  uint32_t ring = 0;
  while (counting.here.reader().is_owned(ring)) ++ring;
  return ring;
}

TEST(FastReader, ARingThatLiesDoesNotKeepTheOthersWaiting) {
  Counting counting({.rings = 4, .ring_bytes = 1 << 20});
  hit_in_turns(counting, 2, 100);
  const uint32_t ring = free_ring(counting);
  Lying lying(counting, ring);
  uint64_t next = 0, calls = 0;
  for (; next < 100 && calls < 200; ++calls) {
    lying.fill();
    counting.here.reader().take_all(
        each([&](const RingRecord& record) {
          if (record.ring != ring) {
            ASSERT_EQ(number_of(record), next++);
          }
        }),
        kAtOnce);
  }
  EXPECT_EQ(next, 100U) << "after " << calls << " calls";
}

TEST(FastReader, NoMoreIsTakenThanThereWasAtTheEnd) {
  Counting counting({.rings = 4, .ring_bytes = 1 << 20});
  hit_in_turns(counting, 2, 100);
  const uint32_t ring = free_ring(counting);
  Lying lying(counting, ring);
  RingReader& reader = counting.here.reader();
  reader.conclude();
  uint64_t honest = 0, lies = 0;
  const RingReader::Visit visit =
      each([&](const RingRecord& record) { ++(record.ring == ring ? lies : honest); });
  for (int i = 0; i < 10; ++i) {
    reader.take_all(visit);
    lying.fill();
    reader.take(ring, true, visit);
    lying.fill();
  }
  EXPECT_EQ(honest, 100U);
  EXPECT_LE(lies, ((1U << 20) + 4 * TRACEWELL_RECORD_MAX) / TRACEWELL_CELL);
}

TEST(FastReader, TheRingOfAThreadThatHasEndedIsReadToItsEnd) {
  Counting counting({.rings = 4, .ring_bytes = 1 << 18});
  RingReader& reader = counting.here.reader();
  std::thread([&] {
    for (uint64_t i = 0; i < 500; ++i) counting.hit(i);
  }).join();
  uint32_t ring = 0;
  while (!reader.is_owned(ring)) ++ring;
  const uint64_t key = ring_of(counting, ring).owner;
  ring_of(counting, ring).head += 64;  // it was killed in a hit
  const auto table = std::span(
      reinterpret_cast<tracewell_thread*>(counting.here.memory().data() +
                                          counting.here.shape().threads_offset()),
      counting.here.shape().threads);
  const auto entry = std::ranges::find(table, key, &tracewell_thread::key);
  forget_threads(counting.here.memory(), counting.here.shape(), entry->tid, 0);
  reader.retire(ring);
  EXPECT_FALSE(reader.drained(ring));
  const auto other = claim_ring(counting.here.memory(), counting.here.shape(), key, 77);
  EXPECT_NE(other.ring, ring) << "who looks as it did is another thread";
  uint64_t next = 0;
  do {
    reader.take_all(
        each([&](const RingRecord& record) {
          ASSERT_EQ(number_of(record), next++);
          ASSERT_NE(record.tid, 77U);
        }),
        kAtOnce);
  } while (reader.left_off());
  EXPECT_EQ(next, 500U);
  EXPECT_TRUE(reader.drained(ring));
  EXPECT_EQ(reader.losses(ring).unfinished, 1U);
  reader.give_up(ring, each([](const RingRecord&) {}));
  EXPECT_FALSE(reader.is_owned(ring));
  EXPECT_FALSE(reader.retired(ring));
}

/// What was jumped over, where its thread began anew, is not taken for what was read.
TEST(FastReader, ARingThatWasBegunAnewIsReadToItsEndAsWell) {
  Counting counting({.rings = 4, .ring_bytes = 1 << 20});
  RingReader& reader = counting.here.reader();
  uint64_t next = 0, hits = 0;
  const auto visit = each([&](const RingRecord& record) { ASSERT_EQ(number_of(record), next++); });
  std::thread([&] {
    while (hits < 1000) counting.hit(hits++);
    reader.take_all(visit);
    const uint64_t read = reader.bytes_read();
    while (hits < 3000) counting.hit(hits++);
    EXPECT_GE(ring_of(counting, 0).origin + ring_of(counting, 1).origin +
                  ring_of(counting, 2).origin + ring_of(counting, 3).origin, 1U << 20)
        << "no ring was begun anew";
    EXPECT_GT(read, 0U);
  }).join();
  uint32_t ring = 0;
  while (!reader.waiting(ring)) ++ring;
  const uint64_t used = reader.used(ring), read = reader.bytes_read();
  reader.retire(ring);
  do {
    reader.take_all(visit, kAtOnce);
  } while (reader.left_off());
  EXPECT_EQ(next, hits);
  EXPECT_EQ(reader.bytes_read() - read, used);
  EXPECT_TRUE(reader.drained(ring));
}

/// Where there are none to be taken, it is the places in between that take their time.
TEST(FastReader, LooksUpAmongWhatIsNoRecord) {
  Counting counting({.rings = 4, .ring_bytes = 1 << 20});
  const uint32_t ring = free_ring(counting);
  Lying lying(counting, ring);
  const AreaShape& shape = counting.here.shape();
  std::memset(counting.here.memory().data() + shape.data_offset() +
                  ring * uint64_t{shape.ring_bytes},
              0xff, shape.ring_bytes);
  uint64_t asked = 0;
  const auto ask = [&](uint64_t) { return ++asked == 3; };
  EXPECT_EQ(counting.here.reader().take_all(each([](const RingRecord&) {}), ask), 0U);
  EXPECT_EQ(asked, 3U);
  EXPECT_TRUE(counting.here.reader().left_off());
  EXPECT_TRUE(counting.here.reader().waiting(ring));
}

}  // namespace
}  // namespace tracewell::fast
