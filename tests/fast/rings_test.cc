// Rings under load: full ones, signals that nest, threads, processes that are killed, and programs
// that write over them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fast/counting.h"

namespace tracewell::fast {
namespace {

TEST(FastRings, WhatFindsNoRoomIsCounted) {
  Counting counting({.rings = 4, .ring_bytes = 4096});
  for (uint64_t i = 0; i < 1000; ++i) counting.hit(i);
  const auto records = counting.here.records();
  ASSERT_GT(records.size(), 10U);
  for (uint64_t i = 0; i < records.size(); ++i) EXPECT_EQ(Counting::number(records[i]), i);
  EXPECT_EQ(records.size() + counting.here.lost(), 1000U);
}

std::atomic<int> yields = 0;
std::atomic<uint64_t> collector_from = 0, collector_to = 0;

/// From now on the calling thread's sched_yield(2) is a SIGSYS.
void catch_yields() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/// Where threads outnumber processors, the one that makes room has to get one.
TEST(FastRings, WhoWaitsLetsOthersRunUnlessCallsDoHarm) {
  struct sigaction counts = {}, before = {};
  // Sanitizers yield, too.
  counts.sa_sigaction = [](int, siginfo_t* info, void*) {
    const auto from = reinterpret_cast<uint64_t>(info->si_call_addr);
    yields += from >= collector_from && from < collector_to;
  };
  counts.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSYS, &counts, &before), 0);
  for (const bool may_yield : {true, false}) {
    Counting counting({.rings = 1, .ring_bytes = 4096}, 256, true);
    EXPECT_EQ(counting.here.geometry().yields, 0U);  // until the tracer says so
    counting.here.geometry().yields = may_yield;
    const auto geometry = reinterpret_cast<uint64_t>(&counting.here.geometry());
    collector_from = geometry - collector_head().geometry;
    collector_to = geometry;
    yields = 0;
    std::atomic<int> hits = 0;
    std::thread writer([&] {
      catch_yields();
      for (; hits < 100; ++hits) counting.hit(static_cast<uint64_t>(hits));
    });
    while (counting.here.reader().used(0) + 256 <= 4096) std::this_thread::yield();
    // It stands at a full ring, for two seconds at most.
    while (may_yield && yields == 0 && hits < 100) std::this_thread::yield();
    if (!may_yield) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LT(hits, 100);
    EXPECT_EQ(yields != 0, may_yield);
    size_t records = 0;
    while (hits < 100) records += counting.here.records().size();
    writer.join();
    EXPECT_EQ(records + counting.here.records().size(), 100U);
    EXPECT_EQ(counting.here.lost(), 0U);
  }
  sigaction(SIGSYS, &before, nullptr);
}

/// In a ring that threads share, there may never be as much room as a large record needs.
TEST(FastRings, AHitGivesUpThoughOthersTakeWhatBecomesFreeEachTime) {
  Counting counting({.rings = 1, .ring_bytes = 4096}, 256, true);
  constexpr uint32_t kPatience = 1000;  // half a second; the others are not off for so long
  const_cast<tracewell_hit_plan&>(counting.here.plan()).patience = kPatience;
  for (uint64_t i = 0; counting.here.reader().used(0) + 256 <= 4096; ++i) counting.hit(i);
  EXPECT_EQ(counting.here.lost(), 0U);
  auto& ring = *reinterpret_cast<tracewell_frame_ring*>(counting.here.memory().data() +
                                                  counting.here.shape().rings_offset());
  std::atomic<bool> given_up = false, begun = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto took = [&] { return std::chrono::steady_clock::now() - begin; };
  std::thread others([&] {
    while (!given_up && took() < std::chrono::seconds(20)) {
      std::atomic_ref(ring.head) += TRACEWELL_CELL;
      std::atomic_ref(ring.tail) += TRACEWELL_CELL;
      begun = true;
    }
  });
  while (!begun) std::this_thread::yield();
  counting.hit(99);
  given_up = true;
  others.join();
  EXPECT_LT(took(), std::chrono::seconds(10));
  EXPECT_EQ(counting.here.lost(), 1U);
  EXPECT_EQ(ring.impatient, 0U) << "somebody makes room";
}

TEST(FastRings, GoAroundManyTimes) {
  Counting counting({.rings = 1, .ring_bytes = 4096});
  uint64_t next = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    counting.hit(i);
    if (i % 7 != 0) continue;
    for (const auto& record : counting.here.records())
      ASSERT_EQ(Counting::number(record), next++);
  }
  EXPECT_EQ(counting.here.lost(), 0U);
}

TEST(FastRings, EmptyOnesBeginAnew) {
  Counting counting({.rings = 1, .ring_bytes = 1 << 18});
  const auto& ring = *reinterpret_cast<tracewell_frame_ring*>(counting.here.memory().data() +
                                                        counting.here.shape().rings_offset());
  uint64_t hits = 0, taken = 0, next = 0;
  std::mt19937 random(7);
  while (hits < 100'000) {
    // Sometimes more than it holds.
    const uint64_t many = random() % 3 == 0 ? random() % 2500 : random() % 400;
    for (uint64_t i = 0; i < many; ++i) counting.hit(hits++);
    if (random() % 4 == 0) continue;
    const bool complete = counting.here.lost() + taken == next;
    for (const auto& record : counting.here.records()) {
      const uint64_t number = Counting::number(record);
      ASSERT_TRUE(!complete || counting.here.lost() != 0 || number == next);
      ASSERT_GE(number, next);
      next = number + 1;
      ++taken;
    }
  }
  taken += counting.here.records().size();
  EXPECT_EQ(taken + counting.here.lost(), hits);
  EXPECT_GT(counting.here.lost(), 0U);
  EXPECT_GT(ring.origin, 10U * (1 << 18));
  // What had been written anew is as near the beginning as it can be.
  counting.hit(1);
  EXPECT_LE(ring.head % (1 << 18), TRACEWELL_REWIND_MIN + 256U);
}

TEST(FastRings, WhoIsPatientWaitsForRoom) {
  Counting counting({.rings = 4, .ring_bytes = 4096}, 256, true);
  constexpr uint64_t kHits = 5000;
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kHits; ++i) counting.hit(i);
    ended = true;
  });
  uint64_t next = 0;
  while (next < kHits) {
    const bool last = ended;
    for (const auto& record : counting.here.records())
      ASSERT_EQ(Counting::number(record), next++);
    ASSERT_TRUE(!last || next == kHits);
  }
  writer.join();
  EXPECT_EQ(counting.here.lost(), 0U);
}

TEST(FastRings, NobodyWaitsWhereNothingIsToBeRecorded) {
  Counting counting({.rings = 4, .ring_bytes = 4096}, 256, true);
  std::thread ending([&] { std::atomic_ref(counting.here.area().reader).store(0); });
  for (uint64_t i = 0; i < 1000; ++i) counting.hit(i);
  ending.join();
  EXPECT_EQ(counting.here.lost(), 0U) << "a run that has ended has no losses";
}

TEST(FastRings, LargeRecordsGoAroundAsWell) {
  HitsHere here({.rings = 1, .ring_bytes = 1 << 16});
  constexpr uint64_t kX87AndSse = 3, kAreaBytes = 576;
  const HitsHere::Step vectors{
      .kind = TRACEWELL_STEP_VECTOR, .value = kX87AndSse, .bytes = kAreaBytes};
  const uint64_t body = here.add(1, {{}, vectors}, {}, 1024);
  const uint64_t slot = here.take(64);
  const auto code = axjit::hit_slot(body);
  std::memcpy(reinterpret_cast<void*>(slot), code.data(), code.size());
  *reinterpret_cast<uint8_t*>(slot + code.size()) = 0xc3;  // ret
  const auto hit = reinterpret_cast<void (*)(uint64_t)>(slot);
  uint64_t next = 0, taken = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    hit(i);
    if (i % 97 != 0) continue;
    for (const auto& record : here.records()) {
      const uint64_t number = Counting::number(record);
      ASSERT_GE(number, next);
      next = number + 1;
      ++taken;
    }
  }
  taken += here.records().size();
  EXPECT_EQ(taken + here.lost(), 20'000U);
}

/// Of all records, those of each thread in order, and whose they are is right.
void expect_all_of(Counting& counting, uint64_t threads, uint64_t hits) {
  std::vector<std::atomic<uint32_t>> tids(threads);
  std::atomic<uint64_t> left = threads, started = 0;
  std::vector<std::thread> all;
  for (uint64_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      tids[t] = static_cast<uint32_t>(gettid());
      ++started;
      while (started < threads) std::this_thread::yield();
      for (uint64_t i = 0; i < hits; ++i) counting.hit(t << 32 | i);
      --left;
      while (left != 0) std::this_thread::yield();
    });
  std::vector<uint64_t> next(threads);
  const auto look = [&] {
    for (const auto& record : counting.here.records()) {
      const uint64_t number = Counting::number(record), thread = number >> 32;
      ASSERT_LT(thread, threads);
      ASSERT_EQ(record.tid, tids[thread].load());
      ASSERT_GE(number & 0xffffffff, next[thread]);
      next[thread] = (number & 0xffffffff) + 1;
    }
  };
  uint64_t seen = 0;
  while (left != 0) look();
  for (std::thread& thread : all) thread.join();
  look();
  for (const uint64_t one : next) seen += one;
  EXPECT_EQ(seen, threads * hits);
  EXPECT_EQ(counting.here.lost(), 0U);
}

TEST(FastRings, ThreadsShareWhereThereAreTooFew) {
  Counting counting({.rings = 2, .shared_rings = 2, .ring_bytes = 1 << 16}, 256, true);
  expect_all_of(counting, 12, 5000);
  uint32_t shared = 0;
  for (uint32_t ring = 2; ring < 4; ++ring) shared += counting.here.reader().used(ring) == 0;
  EXPECT_EQ(shared, 2U);
}

TEST(FastRings, SoDoThoseForWhomTheTableHasNoRoom) {
  Counting counting({.threads = 4, .rings = 2, .ring_bytes = 1 << 16}, 256, true);
  expect_all_of(counting, 9, 2000);
}

TEST(FastRings, AThreadThatHasEndedLeavesItsRingToOthers) {
  Counting counting({.threads = 8, .rings = 2, .ring_bytes = 4096});
  HitsHere& here = counting.here;
  for (uint32_t turn = 0; turn < 100; ++turn) {
    uint32_t tid = 0;
    std::thread([&] {
      tid = static_cast<uint32_t>(gettid());
      counting.hit(turn);
    }).join();
    const auto places = places_of(here.memory(), here.shape(), tid, tid);
    ASSERT_EQ(places.size(), 1U) << turn;
    ASSERT_FALSE(places[0].is_shared) << turn;
    forget_threads(here.memory(), here.shape(), tid, tid);
    ASSERT_TRUE(places_of(here.memory(), here.shape(), tid, tid).empty());
    here.reader().retire(places[0].ring);
    ASSERT_EQ(here.records().size(), 1U);
    here.reader().give_up(places[0].ring, [](auto) {});
  }
}

TEST(FastRings, EachThreadsRecordsComeInOrder) {
  constexpr uint64_t kThreads = 4, kHits = 100'000;
  Counting counting({.rings = 8, .ring_bytes = 1 << 16});
  std::atomic<uint64_t> left = kThreads;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kHits; ++i) counting.hit(t << 32 | i);
      --left;
    });
  std::map<uint64_t, std::pair<uint64_t, uint32_t>> next;
  uint64_t seen = 0;
  const auto look = [&] {
    for (const auto& record : counting.here.records()) {
      const uint64_t number = Counting::number(record);
      auto& [expected, tid] = next[number >> 32];
      ASSERT_GE(number & 0xffffffff, expected);
      ASSERT_TRUE(tid == 0 || tid == record.tid);
      expected = (number & 0xffffffff) + 1;
      tid = record.tid;
      ++seen;
    }
  };
  while (left != 0) look();
  for (std::thread& thread : threads) thread.join();
  look();
  EXPECT_EQ(seen + counting.here.lost(), kThreads * kHits);
  EXPECT_EQ(next.size(), kThreads);
  for (uint32_t ring = 0; ring < 8; ++ring)
    EXPECT_EQ(counting.here.reader().losses(ring).spoiled, 0U);
}

/// What is read was reserved larger than it became: where it ends moves back under the reader.
TEST(FastRings, AReaderKeepsUpWithAWriter) {
  constexpr uint64_t kHits = 300'000;
  Counting counting({.rings = 2, .ring_bytes = 1 << 24}, 4096);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kHits; ++i) counting.hit(i);
    done = true;
  });
  uint64_t seen = 0;
  while (!done) seen += counting.here.records().size();
  writer.join();
  seen += counting.here.records().size();
  for (uint32_t ring = 0; ring < 2; ++ring) {
    EXPECT_EQ(counting.here.reader().losses(ring).spoiled, 0U);
    EXPECT_FALSE(counting.here.reader().waiting(ring));
  }
  EXPECT_EQ(seen + counting.here.lost(), kHits);
}

Counting* handled = nullptr;
std::atomic<uint64_t> handled_hits = 0;
void nested(int) {
  const int before = errno;
  handled->hit(uint64_t{1} << 40 | handled_hits++);
  errno = before;
}

TEST(FastRings, SignalsMayNestAnywhere) {
  // Room for the signals of a look, which a sanitizer makes slow: none is to be lost.
  Counting counting({.rings = 8, .ring_bytes = 1 << 18}, 1024);
  handled = &counting;
  handled_hits = 0;
  std::signal(SIGALRM, nested);
  const timeval often{0, 50};
  const itimerval timer{often, often};
  setitimer(ITIMER_REAL, &timer, nullptr);
  uint64_t next[2] = {}, hits = 0;
  const auto look = [&] {
    for (const auto& record : counting.here.records()) {
      const uint64_t number = Counting::number(record);
      uint64_t& expected = next[number >> 40];
      ASSERT_EQ(number & 0xff'ffff'ffff, expected++);
    }
  };
  while (handled_hits < 2000) {
    for (int i = 0; i < 20; ++i) counting.hit(hits++);
    look();
  }
  setitimer(ITIMER_REAL, std::array<itimerval, 1>{}.data(), nullptr);
  std::signal(SIGALRM, SIG_DFL);
  look();
  EXPECT_EQ(counting.here.lost(), 0U);
  EXPECT_EQ(next[0], hits);
  EXPECT_EQ(next[1], handled_hits);
}

TEST(FastRings, AKilledProcessLeavesAllThatWasFinished) {
  for (int round = 0; round < 30; ++round) {
    Counting counting({.rings = 4, .ring_bytes = 1 << 20});
    auto* const done = reinterpret_cast<std::atomic<uint64_t>*>(
        pages(4096, PROT_READ | PROT_WRITE).data());
    const pid_t child = fork();
    if (child == 0) {
      for (uint64_t i = 0;; ++i) {
        counting.hit(i);
        done->store(i + 1);
      }
    }
    while (done->load() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(round * 7));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto records = counting.here.records(true);
    for (uint64_t i = 0; i < records.size(); ++i) ASSERT_EQ(Counting::number(records[i]), i);
    EXPECT_GE(records.size() + counting.here.lost(), done->load());
    EXPECT_LE(records.size(), done->load() + 1);
    munmap(done, 4096);
  }
}

TEST(FastRings, WhatTheProgramWritesOverThemHarmsNobody) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    Counting counting({.rings = 2, .ring_bytes = 4096});
    for (uint64_t i = 0; i < 10; ++i) counting.hit(i);
    const auto memory = counting.here.memory();
    const AreaShape& shape = counting.here.shape();
    const auto spoil = [&](uint64_t begin, uint64_t end) {
      for (int i = 0; i < 40; ++i) memory[begin + random() % (end - begin)] = uint8_t(random());
    };
    if (round % 3 != 0) spoil(shape.rings_offset(), shape.rings_offset() + 256);
    if (round % 3 != 1) spoil(shape.commit_offset(), shape.commit_offset() + 1024);
    if (round % 3 != 2) spoil(shape.data_offset(), shape.data_offset() + 2 * shape.ring_bytes);
    for (int i = 0; i < 3; ++i) {
      for (const auto& record : counting.here.records(i == 1)) {
        RecordBlocks blocks(record.blocks);
        while (blocks.next()) {
        }
      }
    }
    for (uint32_t ring = 0; ring < 2; ++ring) counting.here.reader().give_up(ring, [](auto) {});
    for (uint64_t i = 0; i < 10; ++i) counting.hit(i);
    EXPECT_EQ(counting.here.records().size(), 10U) << round;
  }
}

}  // namespace
}  // namespace tracewell::fast
