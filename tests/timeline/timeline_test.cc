#include "sanitized.h"
#include "timeline/timeline.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "timeline/moment.h"
#include "timeline/naive.h"
#include "timeline/random_steps.h"
#include "timeline/store/step_store.h"

namespace tracewell::timeline::test {
namespace {

/// A random trace, its timeline and its naive twin.
struct World {
  World(uint32_t seed, const RandomOptions& random, const BuildOptions& build)
      : trace(seed, random), naive(trace.catalog, trace.events()), large(random.large) {
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
    const auto kinds = static_cast<uint8_t>(1 + trace.below(7));
    const auto index = static_cast<uint32_t>(trace.below(20));
    const ChangedBy by = trace.chance(50) ? ChangedBy::Instruction : ChangedBy::Others;
    const uint64_t tid = 100 * trace.below(7);
    const uint64_t question = trace.below(18);
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
      case 10: return ask_changes(at, bytes);
      case 11: return ask_accesses(bytes, kinds, at);
      case 12:
        EXPECT_EQ(timeline->changes_at(index, by, at), naive.next_change(index, by, at) == at);
        return;
      case 13: return ask_bounded(std::min(at, naive.steps()), tid, index, by, bytes, kinds);
      case 14: return ask_executed(pcs);
      default: return ask_memory(std::min(at, naive.steps()), bytes.first, size);
    }
  }
  void ask_memory(uint64_t at, uint64_t address, uint64_t size) {
    std::vector<uint8_t> content(size);
    std::vector<ByteState> states(size);
    timeline->memory(at, address, content, states);
    for (uint64_t i = 0; i < size && address + i >= address; ++i) {
      const NaiveByte wanted = naive.byte(at, address + i);
      EXPECT_EQ(states[i], wanted.state) << at << " " << std::hex << address + i;
      EXPECT_EQ(content[i], wanted.value) << at << " " << std::hex << address + i;
      ++by_state[static_cast<size_t>(wanted.state)];
      told += wanted.state != ByteState::Unknown;
    }
  }
  /// At a step that finds some, more often than not.
  void ask_changes(uint64_t at, AddressRange bytes) {
    at = timeline->next_access(bytes, kOthers, at).value_or(at);
    std::map<uint64_t, NaiveMemory::Change> got, wanted;
    for (const ChangeByOthers& one : timeline->changes_by_others(at, bytes))
      for (size_t i = 0; i < one.old_bytes.size(); ++i)
        got[one.address + i] = {one.old_bytes[i], one.new_bytes[i], one.since, one.until};
    for (uint64_t address = bytes.first;; ++address) {
      if (const auto change = naive.change_by_others(at, address)) wanted[address] = *change;
      if (address == bytes.last) break;
    }
    EXPECT_TRUE(got == wanted) << at << " " << got.size() << " of " << wanted.size();
    changes += wanted.size();
  }
  void ask_accesses(AddressRange bytes, uint8_t kinds, uint64_t at) {
    std::vector<uint64_t> wanted;
    for (auto one = naive.next_access(bytes, kinds, at); one && *one < at + 500;
         one = naive.next_access(bytes, kinds, *one + 1))
      wanted.push_back(*one);
    EXPECT_EQ(timeline->accesses(bytes, kinds, at, at + 500), wanted);
  }
  /// At the next step that has one, more often than not.
  void ask_accesses_at(AddressRange bytes, uint8_t kinds, uint64_t at) {
    if (trace.chance(80)) at = naive.next_access(bytes, kinds, at).value_or(at);
    const bool wanted = naive.next_access(bytes, kinds, at) == at;
    const bool got = timeline->accesses_at(bytes, kinds, at);
    if (!large) {
      EXPECT_EQ(got, wanted);
    }
    EXPECT_TRUE(wanted || !got);
    accessed += got;
  }
  void ask_executed(AddressRange pcs) {
    std::set<uint64_t> wanted;
    for (const uint64_t pc : naive.pcs_)
      if (pc >= pcs.first && pc <= pcs.last) wanted.insert(pc);
    EXPECT_EQ(timeline->executed(pcs), std::vector<uint64_t>(wanted.begin(), wanted.end()));
  }
  void ask_bounded(uint64_t at, uint64_t tid, uint32_t index, ChangedBy by, AddressRange bytes,
                   uint8_t kinds) {
    const uint64_t end = at + trace.below(naive.steps() + 2 - at);
    const auto before_end = [&](Naive::Answer one) {
      return one && *one < end ? one : std::nullopt;
    };
    same(before_end(naive.next_change(index, by, at)), timeline->next_change(index, by, at, end));
    same(before_end(naive.next_step_of(tid, at)), timeline->next_step_of(tid, at, end));
    same(before_end(naive.next_access(bytes, kinds, at)),
         timeline->next_access(bytes, kinds, at, end));
    ask_accesses_at(bytes, kinds & kAccesses, at);
    const auto last = naive.last_step_of(tid, end);
    same(last && *last >= at ? last : std::nullopt, timeline->last_step_of(tid, end, at));
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
  bool large;  // there are accesses that are only in large_accesses.h
  uint64_t told = 0, changes = 0, accessed = 0;
  std::array<uint64_t, 4> by_state = {};
};

TEST(Timeline, AnswersAsTheNaiveModelDoes) {
  uint64_t told = 0, changes = 0, accessed = 0;
  std::array<uint64_t, 4> by_state = {};
  for (uint32_t seed = 0; seed < 50; ++seed) {
    RandomOptions random;
    random.steps = seed % 5 == 0 ? 6000 : 1 + seed * 40;
    random.threads = 1 + seed % 5;
    random.is_64 = seed % 3 != 0;
    random.sessions_per_mille = seed % 4 == 3 ? 5 : 0;
    random.calls_per_mille = seed % 3 == 0 ? 0 : seed % 3 * 30;
    random.losses_per_mille = seed % 6 == 2 ? 20 : 0;
    random.incomplete_per_mille = seed % 4 == 0 ? 0 : seed % 4 * 20;
    random.lost_at_end = seed % 3 == 2;
    random.large = seed % 5 == 2;
    if (seed % 10 == 5) random.threads = 150;  // more than have their registers whole
    BuildOptions build;
    build.workers = 1 + seed % 3;
    if (seed % 2 == 1) build.segment_steps = 50 + seed * 10;
    if (seed % 7 == 6) build.work.memory_bytes = 600000;
    World world(seed, random, build);
    ASSERT_EQ(world.timeline->steps(), world.naive.steps());
    for (size_t i = 0; i < 2000; i += tracewell::test::each_slow()) world.ask();
    told += world.told;
    changes += world.changes;
    accessed += world.accessed;
    for (size_t i = 0; i < by_state.size(); ++i) by_state[i] += world.by_state[i];
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(told, 100000u / tracewell::test::kEach);
  EXPECT_GT(changes, 1000u / tracewell::test::kEach);
  EXPECT_GT(accessed, 1000u / tracewell::test::kEach);
  for (const uint64_t bytes : by_state) EXPECT_GT(bytes, 10000u / tracewell::test::kEach);
}

}  // namespace
}  // namespace tracewell::timeline::test
