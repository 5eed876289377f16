// Times from ticks: right to within what reading two clocks takes, and in order.
#include "fast/tick_clock.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace tracewell::fast {
namespace {

constexpr double kTicksPerNs = 2.6;

struct World {
  int64_t ns = 1'700'000'000'000'000'000;
  double ticks = 5e12;
  double rate = kTicksPerNs;
  std::mt19937 random{7};
  void pass(int64_t more) {
    ns += more;
    ticks += static_cast<double>(more) * rate;
  }
  uint64_t now() const { return static_cast<uint64_t>(ticks); }
  /// The clock is read a moment after the counter.
  int64_t read() { return ns + static_cast<int64_t>(random() % 60); }
};

TEST(TickClock, TimesAreRightAndInOrder) {
  for (const int64_t pause : {20'000, 500'000, 10'000'000}) {
    World world;
    TickClock clock;
    clock.begin(world.now(), world.read());
    world.pass(1'000'000);
    clock.sample(world.now(), world.read());
    int64_t last = 0;
    for (int i = 0; i < 3000; ++i) {
      const World before = world;
      world.rate = kTicksPerNs * (1 + (i % 7) * 1e-7);  // as it gets warm
      world.pass(pause);
      clock.sample(world.now(), world.read());
      World then = before;
      for (int k = 0; k < 10; ++k) {
        then.rate = world.rate;
        then.pass(pause / 10);
        const int64_t time = clock.time_of(then.now());
        ASSERT_GE(time, last) << pause << " " << i;
        last = time;
        clock.told(then.now());
        ASSERT_LT(std::llabs(time - then.ns), 200) << pause << " " << i << " " << k;
      }
    }
  }
}

/// A reader that takes long reads what was written meanwhile, behind the last sample.
TEST(TickClock, TimesBehindTheLastSampleAreRightAndInOrderToo) {
  for (const int64_t pause : {10'000'000, 50'000'000}) {
    World world;
    TickClock clock;
    clock.begin(world.now(), world.read());
    world.pass(1'000'000);
    int64_t last = 0;
    for (int i = 0; i < 300; ++i) {
      clock.sample(world.now(), world.read());
      world.rate = kTicksPerNs * (1 + (i % 7) * 1e-7);
      for (int k = 0; k < 10; ++k) {
        world.pass(pause / 10);
        const int64_t time = clock.time_of(world.now());
        clock.told(world.now());
        ASSERT_GE(time, last) << pause << " " << i;
        last = time;
        // At first the rate is known from a millisecond alone.
        ASSERT_LT(std::llabs(time - world.ns), i < 3 ? 5000 : 400) << pause << " " << i << " " << k;
      }
    }
  }
}

/// A clock that was read at a bad moment is off by far, once. That is forgotten in 200 ms.
TEST(TickClock, OneBadSampleDoesNotMakeTimesGoBack) {
  World world;
  TickClock clock;
  clock.begin(world.now(), world.read());
  int64_t last = 0;
  for (int i = 0; i < 400; ++i) {
    world.pass(1'000'000);
    clock.sample(world.now(), world.read() + (i == 100 ? 3'000'000 : 0));
    const int64_t time = clock.time_of(world.now());
    clock.told(world.now());
    ASSERT_GE(time, last) << i;
    last = time;
    if (i < 100 || i > 300) {
      ASSERT_LT(std::llabs(time - world.ns), 200) << i;
    }
  }
}

/// What a ring has held for long is behind both samples.
TEST(TickClock, WhatIsOlderIsRightToo) {
  World world;
  TickClock clock;
  clock.begin(world.now(), world.read());
  World old = world;
  old.pass(3'000'000);
  for (int i = 0; i < 10; ++i) {
    world.pass(20'000'000);
    clock.sample(world.now(), world.read());
  }
  EXPECT_LT(std::llabs(clock.time_of(old.now()) - old.ns), 3000);
}

TEST(TickClock, AtFirstThereIsOneMoment) {
  TickClock clock;
  clock.begin(1000, 5000);
  EXPECT_EQ(clock.time_of(1000), 5000);
  EXPECT_EQ(clock.time_of(2000), 5000);
}

}  // namespace
}  // namespace tracewell::fast
