#include "timeline/timeline.h"

#include <memory>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "timeline/moment.h"
#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/step_store.h"

namespace tracewell::timeline::test {
namespace {

/// A random trace, its timeline and its naive twin.
struct World {
  World(uint32_t seed, const RandomOptions& random, const BuildOptions& build)
      : trace(seed, random), naive(trace.catalog, trace.events()) {
    tracewell::test::ListSource source(trace.catalog, trace.events());
    store = *StepStore::read(source);
    TimelineOptions options;
    options.build = build;
    auto opened = Timeline::open(*store, trace.catalog, {}, options);
    EXPECT_TRUE(opened) << opened.error().text();
    timeline = std::make_unique<Timeline>(*std::move(opened));
  }

  void ask() {
    const uint64_t at = trace.below(naive.steps() + 2);
    const uint64_t size = trace.chance(80) ? 1 + trace.below(16) : 1 + trace.below(300);
    const auto range = [&](uint64_t first) {
      return AddressRange{first, first + std::min(size - 1, UINT64_MAX - first)};
    };
    const AddressRange pcs = range(trace.some_pc()), bytes = range(trace.some_address());
    const auto kinds = static_cast<uint8_t>(1 + trace.below(3));
    const auto index = static_cast<uint32_t>(trace.below(20));
    const ChangedBy by = trace.chance(50) ? ChangedBy::Instruction : ChangedBy::Others;
    const uint64_t tid = 100 * trace.below(7);
    const uint64_t question = trace.below(12);
    SCOPED_TRACE(fmt::format("question {} step {} pc {:#x} at {:#x} size {} kinds {} register {}",
                             question, at, pcs.first, bytes.first, size, kinds, index));
    switch (question) {
      case 0: return same(naive.next_execution(pcs, at), timeline->next_execution(pcs, at));
      case 1: return same(naive.last_execution(pcs, at), timeline->last_execution(pcs, at));
      case 2:
        return same(naive.next_access(bytes, kinds, at), timeline->next_access(bytes, kinds, at));
      case 3:
        return same(naive.last_access(bytes, kinds, at), timeline->last_access(bytes, kinds, at));
      case 4: return same(naive.next_change(index, by, at), timeline->next_change(index, by, at));
      case 5: return same(naive.last_change(index, by, at), timeline->last_change(index, by, at));
      case 6: return same(naive.next_step_of(tid, at), timeline->next_step_of(tid, at));
      case 7: return same(naive.last_step_of(tid, at), timeline->last_step_of(tid, at));
      case 8:
        EXPECT_EQ(timeline->thread_of(at), at < naive.steps() ? naive.tids_[at] : 0);
        return;
      case 9: return ask_registers(std::min(at, naive.steps()), tid);
      default: return ask_memory(std::min(at, naive.steps()), bytes.first, size);
    }
  }
  void ask_memory(uint64_t at, uint64_t address, uint64_t size) {
    std::vector<uint8_t> content(size), known(size);
    timeline->memory(at, address, content, known);
    for (uint64_t i = 0; i < size && address + i >= address; ++i) {
      const std::optional<uint8_t> wanted = naive.byte(at, address + i);
      EXPECT_EQ(known[i], wanted.has_value()) << at << " " << std::hex << address + i;
      EXPECT_EQ(content[i], wanted.value_or(0)) << at << " " << std::hex << address + i;
      told += wanted.has_value();
    }
  }
  void same(const Naive::Answer& wanted, const Naive::Answer& got) {
    EXPECT_EQ(wanted, got);
    told += wanted.has_value();
  }

  void ask_registers(uint64_t at, uint64_t tid) {
    const auto got = registers_at(*store, *timeline, at, tid);
    ASSERT_TRUE(got) << got.error().text();
    RegisterState nothing;
    nothing.reset(trace.catalog.registers);
    const RegisterState wanted = naive.registers(at, tid).value_or(nothing);
    EXPECT_EQ(got->block, wanted.block);
    EXPECT_EQ(got->valid, wanted.valid);
  }

  RandomSteps trace;
  Naive naive;
  std::unique_ptr<StepStore> store;
  std::unique_ptr<Timeline> timeline;
  uint64_t told = 0;
};

TEST(Timeline, AnswersAsTheNaiveModelDoes) {
  uint64_t told = 0;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    RandomOptions random;
    random.steps = seed % 5 == 0 ? 6000 : 1 + seed * 40;
    random.threads = 1 + seed % 5;
    random.is_64 = seed % 3 != 0;
    random.sessions_per_mille = seed % 4 == 3 ? 5 : 0;
    random.losses_per_mille = seed % 6 == 2 ? 20 : 0;
    if (seed % 10 == 5) random.threads = 150;  // more than have their registers whole
    BuildOptions build;
    build.workers = 1 + seed % 3;
    if (seed % 2 == 1) build.segment_steps = 50 + seed * 10;
    if (seed % 7 == 6) build.memory_bytes = 600000;
    World world(seed, random, build);
    ASSERT_EQ(world.timeline->steps(), world.naive.steps());
    for (int i = 0; i < 2000; ++i) world.ask();
    told += world.told;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(told, 100000u);
}

}  // namespace
}  // namespace tracewell::timeline::test
