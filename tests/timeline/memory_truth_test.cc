// Programs whose memory others write in system calls, in calls that are stepped over, where faults
// are delivered, where another thread goes on, in steps that do not tell all their accesses, and in
// gaps, also behind the last step: what is shown as told or inferred is what was there, and who is
// said to have changed it has.
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"
#include "timeline/random_steps.h"
#include "timeline/search.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::timeline::test {
namespace {

using tracewell::test::kEach;

struct HonestWorld {
  explicit HonestWorld(uint32_t seed)
      : trace(seed, {.steps = 400 + seed * 30,
                     .threads = 1 + seed % 3,
                     .is_64 = seed % 2 == 0,
                     .sessions_per_mille = seed % 5 == 4 ? 5u : 0,
                     .losses_per_mille = seed % 3 == 1 ? 15u : 0,
                     .calls_per_mille = seed % 4 == 3 ? 0 : 10 + seed % 4 * 20,
                     .incomplete_per_mille = seed % 4 * 15,
                     .lost_at_end = seed % 3 == 2,
                     .large = seed % 3 == 0,
                     .honest = true}) {
    tracewell::test::ListSource source(trace.catalog, trace.events());
    store = *StepStore::read(source);
    TimelineOptions options;
    if (seed % 2 == 1) options.build.segment_steps = 50 + seed * 7;
    timeline = std::make_unique<Timeline>(*Timeline::open(*store, trace.catalog, {}, options));
  }

  RandomSteps trace;
  std::unique_ptr<StepStore> store;
  std::unique_ptr<Timeline> timeline;
};

TEST(MemoryTruth, ToldAndInferredBytesAreTrue) {
  std::array<uint64_t, 4> by_state = {};
  uint64_t stale = 0;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    const HonestWorld world(seed);
    for (uint64_t at = 0; at <= world.timeline->steps(); at += 3 * kEach) {
      std::array<uint8_t, 200> bytes;
      std::array<ByteState, 200> states;
      world.timeline->memory(at, 0x7000, bytes, states);
      for (size_t i = 0; i < bytes.size(); ++i) {
        ++by_state[static_cast<size_t>(states[i])];
        const uint8_t truth = world.trace.memory().at(at, 0x7000 + i);
        if (states[i] == ByteState::Kept) stale += bytes[i] != truth;
        if (states[i] == ByteState::Unknown || states[i] == ByteState::Kept) continue;
        ASSERT_EQ(bytes[i], truth) << "seed " << seed << " step " << at << " byte " << i
                                   << " state " << static_cast<int>(states[i]);
      }
    }
  }
  for (const uint64_t bytes : by_state) EXPECT_GT(bytes, 50000u / kEach);
  EXPECT_GT(stale, 1000u / kEach);  // others do write
}

TEST(MemoryTruth, ChangesByOthersHappenedWhenItIsSaid) {
  uint64_t changes = 0;
  for (uint32_t seed = 0; seed < 24; seed += kEach) {
    const HonestWorld world(seed);
    const AddressRange all = {0x7000, 0x70ff};
    for (auto at = world.timeline->next_access(all, kOthers, 0); at;
         at = world.timeline->next_access(all, kOthers, *at + 1)) {
      const auto found = world.timeline->changes_by_others(*at, all);
      EXPECT_FALSE(found.empty()) << "seed " << seed << " step " << *at;
      for (const ChangeByOthers& one : found)
        for (size_t i = 0; i < one.old_bytes.size(); ++i) {
          const uint64_t address = one.address + i;
          ++changes;
          ASSERT_LT(one.since, one.until);
          ASSERT_LE(one.until, *at);
          ASSERT_NE(one.old_bytes[i], one.new_bytes[i]);
          ASSERT_TRUE(world.trace.memory().held(one.since, one.until, address, one.old_bytes[i]))
              << "seed " << seed << " step " << *at << " since " << one.since;
          ASSERT_EQ(world.trace.memory().at(one.until, address), one.new_bytes[i])
              << "seed " << seed << " step " << *at << " until " << one.until;
        }
    }
  }
  EXPECT_GT(changes, 500u / kEach);
}

TEST(MemoryTruth, BytesThatRestOnNothingKeptWereThere) {
  uint64_t sure = 0, inferred = 0, kept = 0;
  for (uint32_t seed = 0; seed < 24; seed += kEach) {
    const HonestWorld world(seed);
    const std::vector<uint8_t> pattern = {1, 0};
    EXPECT_TRUE(find_bytes(*world.timeline, pattern, [&](const BytesHit& hit) {
      kept += hit.kept;
      inferred += hit.inferred;
      for (uint64_t at = hit.first; at <= hit.last && !hit.kept; ++at)
        for (size_t i = 0; i < pattern.size(); ++i, ++sure)
          EXPECT_EQ(world.trace.memory().at(at, hit.address + i), pattern[i]) << "seed " << seed;
      return true;
    }));
  }
  EXPECT_GT(sure, 5000u / kEach);
  EXPECT_GT(inferred, 100u / kEach);
  EXPECT_GT(kept, 100u / kEach);
}

}  // namespace
}  // namespace tracewell::timeline::test
