#include "timeline/search.h"

#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {
namespace {

/// Address, first and last step, inferred, kept.
using Hits = std::set<std::tuple<uint64_t, uint64_t, uint64_t, bool, bool>>;

/// By looking at each address at each step.
Hits naive_hits(const Naive& naive, Bytes pattern, const std::set<uint64_t>& addresses) {
  Hits out;
  for (uint64_t address : addresses) {
    std::optional<uint64_t> begin;
    bool inferred = false, kept = false;
    for (uint64_t at = 0; at <= naive.steps() + 1; ++at) {
      const bool other = at > naive.steps() ||
                         (begin && naive.stretch_at(*begin) != naive.stretch_at(at));
      bool holds = at <= naive.steps(), inferred_here = false, kept_here = false;
      for (size_t i = 0; holds && i < pattern.size(); ++i) {
        const NaiveByte byte = address + i >= address ? naive.byte(at, address + i) : NaiveByte();
        holds = byte.state != ByteState::Unknown && byte.value == pattern[i];
        inferred_here |= byte.state == ByteState::Inferred;
        kept_here |= byte.state == ByteState::Kept;
      }
      if (begin && (!holds || other)) {
        out.insert({address, *begin, at - 1, inferred, kept});
        begin.reset();
        inferred = kept = false;
      }
      if (!holds) continue;
      if (!begin) begin = at;
      inferred |= inferred_here;
      kept |= kept_here;
    }
  }
  return out;
}

TEST(Search, FindsBytesWithTheirLifetimes) {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    RandomSteps trace(seed, {.steps = 150 + seed * 10, .threads = 1 + seed % 3,
                             .is_64 = seed % 2 == 0,
                             .sessions_per_mille = seed % 4 == 3 ? 20u : 0,
                             .losses_per_mille = seed % 3 == 1 ? 30u : 0,
                             .calls_per_mille = seed % 2 == 0 ? 60u : 0,
                             .incomplete_per_mille = seed % 4 == 1 ? 40u : 0,
                             .lost_at_end = seed % 4 == 2});
    const Naive naive(trace.catalog, trace.events());
    tracewell::test::ListSource source(trace.catalog, trace.events());
    const auto store = *StepStore::read(source);
    TimelineOptions options;
    options.build.segment_steps = 40 + seed * 17;
    const auto timeline = Timeline::open(*store, trace.catalog, {}, options);
    ASSERT_TRUE(timeline);
    std::set<uint64_t> addresses;
    for (uint64_t i = 0; i < 60; ++i) addresses.insert({i, 0x7000 + i * 4, 0 - (i + 1)});
    for (uint64_t address = 0x6ff0; address < 0x7120; ++address) addresses.insert(address);
    for (const std::vector<uint8_t>& pattern :
         {std::vector<uint8_t>{1, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 1}, {2}, {0, 1, 0, 2},
          std::vector<uint8_t>(11, 0)}) {
      Hits got;
      EXPECT_TRUE(find_bytes(*timeline, pattern, [&](const BytesHit& hit) {
        if (addresses.contains(hit.address))
          got.insert({hit.address, hit.first, hit.last, hit.inferred, hit.kept});
        return true;
      }));
      EXPECT_EQ(got, naive_hits(naive, pattern, addresses)) << seed;
      found += got.size();
    }
    size_t calls = 0;
    EXPECT_TRUE(find_bytes(*timeline, std::vector<uint8_t>{0},
                           [&](const BytesHit&) { return ++calls < 3; }));
    EXPECT_EQ(calls, 3u);
  }
  EXPECT_GT(found, 500u);
}

}  // namespace
}  // namespace tracewell::timeline::test
