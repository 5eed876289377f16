// Traces whose registers are as wide as they may be, and whose threads are many.
#include "timeline/store/step_store.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/endian.h"
#include "list_source.h"
#include "little_memory.h"
#include "timeline/diff/steps.h"

namespace tracewell::timeline::test {
namespace {

constexpr uint32_t kWideSize = 65536 - 4;

/// Two wide registers and two that are not.
Catalog wide_catalog() {
  Catalog out;
  uint32_t number = 0;
  for (const uint32_t size : {kWideSize, 8u, kWideSize, 8u}) {
    RegisterLayout& layout = out.registers;
    layout.registers.push_back({std::string(1, static_cast<char>('a' + number)), number,
                                layout.size_bytes, size, "int"});
    layout.size_bytes += size;
    ++number;
  }
  return out;
}

/// Steps of `threads` in turn that tell 1 as the value of the first register; a batch has ten.
class FewDigits final : public Source {
 public:
  FewDigits(size_t steps, size_t threads) : steps_(steps), threads_(threads) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (int i = 0; i < 10 && at_ < steps_; ++i, ++at_) {
      const std::span<uint8_t> value = batch.array<uint8_t>(kWideSize);
      std::ranges::fill(value, uint8_t{0});
      value[0] = 1;
      const Step::RegisterChange change = {0, value};
      Event& event = batch.add();
      event.tid = at_ % threads_;
      Step step;
      step.pc = 0x1000 + at_;
      step.before = batch.copy_array(std::span(&change, 1));
      event.body = step;
    }
    return !batch.empty();
  }

 private:
  Catalog catalog_ = wide_catalog();
  size_t steps_, threads_, at_ = 0;
};

std::unique_ptr<StepStore> few_digits(size_t steps, size_t threads) {
  FewDigits source(steps, threads);
  return *StepStore::read(source);
}

/// Steps whose first register is told, and is 1.
size_t count_told(Source& source) {
  size_t out = 0;
  Batch batch;
  while (*source.next(batch))
    for (const Event& event : batch.events())
      for (const Step::RegisterChange& one : std::get<Step>(event.body).before)
        out += one.index == 0 && one.value.size() == kWideSize && one.value[0] == 1 &&
               std::ranges::count(one.value, 0) == kWideSize - 1;
  return out;
}

TEST(StepStore, WideValuesTakeWhatIsInThem) {
  EXPECT_IN_MEMORY(64 << 20, {
    const auto store = few_digits(4000, 1);  // 256 MiB if each were whole
    EXPECT_EQ(count_told(*store), 4000u);
  });
}

TEST(StepStore, ThreadsTakeNoRegisterBlocks) {
  EXPECT_IN_MEMORY(64 << 20, {
    const auto store = few_digits(4000, 4000);  // 512 MiB if each thread had a block
    ASSERT_TRUE(store->seek(2000).ok());
    EXPECT_EQ(count_told(*store), 2000u);
  });
}

TEST(LastSteps, AreFewerWhereTheyAreLarge) {
  EXPECT_IN_MEMORY(128 << 20, {
    const auto store = few_digits(4000, 2);
    const auto last = LastSteps::read(*store, 0, 3998, 4000);
    ASSERT_TRUE(last.ok());
    EXPECT_EQ(last->event(0).seq, 3998u);
    EXPECT_GT(last->size(), 400u);  // of 1000 steps
    EXPECT_LT(last->size(), 600u);
    for (size_t i = 0; i < last->size(); ++i) EXPECT_EQ(last->event(i).seq, 3998 - 2 * i);
  });
}

/// Events with random values of all registers, and what these are before each step.
class RandomValues {
 public:
  RandomValues(uint32_t seed, size_t steps) : random_(seed) {
    for (size_t i = 0; i < steps; ++i) add_step(i);
  }
  Catalog catalog = wide_catalog();
  std::span<const Event> events() const { return batch_.events(); }
  /// Compares all registers in front of the step with what its thread's steps told.
  void check(StepStore& store, uint64_t seq) {
    StepIndex::Moment moment;
    ASSERT_TRUE(store.state_before(seq, moment).ok());
    check(moment.registers, seq);
  }
  void check(const RegisterState& state, uint64_t seq) {
    RegisterState wanted;
    wanted.reset(catalog.registers);
    const auto steps = steps_of(seq);
    for (const Step* step : steps) {
      put(step->before, wanted);
      if (step != steps.back()) put(step->registers, wanted);
    }
    EXPECT_EQ(state.valid, wanted.valid) << seq;
    EXPECT_TRUE(state.block == wanted.block) << seq;
  }
  void put(std::span<const Step::RegisterChange> changes, RegisterState& state) const {
    for (const auto& one : changes) state.set(catalog.registers, one.index, one.value);
  }
  uint64_t below(uint64_t end) { return random_() % end; }

 private:
  /// Of its thread in its session, up to the step itself.
  std::vector<const Step*> steps_of(uint64_t seq) const {
    std::map<uint64_t, std::vector<const Step*>> by_thread;
    uint64_t at = 0, tid = 0;
    for (const Event& event : batch_.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (step == nullptr) {
        by_thread.clear();
        continue;
      }
      tid = event.tid;
      by_thread[tid].push_back(step);
      if (at++ == seq) break;
    }
    return by_thread[tid];
  }
  std::span<const Step::RegisterChange> some_changes() {
    std::vector<Step::RegisterChange> out;
    for (uint32_t i = 0; i < 4; ++i) {
      if (below(20) != 0) continue;
      const uint32_t size = catalog.registers.registers[i].size_bytes;
      if (below(8) == 0) {
        out.push_back({i, {}});
        continue;
      }
      const std::span<uint8_t> value = batch_.array<uint8_t>(size);
      std::ranges::fill(value, uint8_t{0});
      for (uint64_t n = below(3); n > 0; --n) value[below(size)] = 7;
      if (below(3) == 0) value[0] = 1;
      if (below(3) == 0) value[size - 1] = 1;
      out.push_back({i, value});
    }
    return batch_.copy_array(std::span<const Step::RegisterChange>(out));
  }
  void add_step(uint64_t seq) {
    if (seq != 0 && below(400) == 0) {
      Event& mark = batch_.add();
      mark.seq = seq;
      mark.body = Mark{"session", true};
    }
    Step step;
    step.pc = seq;
    step.before = some_changes();
    if (seq % 64 < 2) step.registers = some_changes();
    Event& event = batch_.add();
    event.seq = seq;
    event.tid = below(10) == 0 ? 2 : 1;
    event.body = step;
  }

  std::mt19937 random_;
  Batch batch_;
};

TEST(StepStore, WideValuesComeBackAsTheyWere) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    RandomValues trace(seed, 1500);
    tracewell::test::ListSource source(trace.catalog, trace.events());
    const auto store = *StepStore::read(source);
    for (int i = 0; i < 60; ++i) trace.check(*store, trace.below(1500));
    // What is handed out from some step on tells the same.
    const uint64_t from = trace.below(1400);
    ASSERT_TRUE(store->seek(from).ok());
    std::map<uint64_t, RegisterState> states;
    uint64_t seq = from;
    Batch batch;
    while (*store->next(batch))
      for (const Event& event : batch.events()) {
        if (std::holds_alternative<Mark>(event.body)) states.clear();
        if (!std::holds_alternative<Step>(event.body)) continue;
        const auto& step = std::get<Step>(event.body);
        const auto [state, is_new] = states.try_emplace(event.tid);
        if (is_new) state->second.reset(trace.catalog.registers);
        trace.put(step.before, state->second);
        if (seq < from + 100) trace.check(state->second, seq);
        trace.put(step.registers, state->second);
        EXPECT_EQ(event.seq, seq++);
      }
    EXPECT_EQ(seq, 1500u);
  }
}

/// Who wants the registers of one thread has those; of another's steps, what the trace tells there.
TEST(StepStore, RegistersOfOneThreadAlone) {
  RandomValues trace(7, 1500);
  tracewell::test::ListSource source(trace.catalog, trace.events());
  const auto store = *StepStore::read(source);
  std::vector<const Step*> steps;
  for (const Event& event : trace.events())
    if (const auto* step = std::get_if<Step>(&event.body)) steps.push_back(step);
  for (const uint64_t from : {300u, 700u, 1100u}) {
    const auto one = *store->open_thread_at(from, 2), all = *store->open_at(from);
    Batch batch, whole;
    size_t others = 0;
    while (*one->next(batch)) {
      ASSERT_TRUE(*all->next(whole));
      ASSERT_EQ(batch.events().size(), whole.events().size());
      for (size_t i = 0; i < batch.events().size(); ++i) {
        const Event &got = batch.events()[i], &told = whole.events()[i];
        if (!std::holds_alternative<Step>(got.body)) continue;
        const auto& step = std::get<Step>(got.body);
        const auto wanted = got.tid == 2 ? std::get<Step>(told.body).before
                                         : steps[got.seq]->before;
        EXPECT_TRUE(std::ranges::equal(step.before, wanted, [](const auto& a, const auto& b) {
          return a.index == b.index && std::ranges::equal(a.value, b.value);
        })) << got.seq;
        others += got.tid != 2 && step.before.size() != std::get<Step>(told.body).before.size();
      }
    }
    EXPECT_EQ(others, 1u) << "the first step of the other thread";
  }
}

/// The wider registers are, the farther their states are apart; sessions lie in between.
TEST(StepStore, StatesOfManySteps) {
  constexpr size_t kSteps = 60000;
  Catalog catalog = wide_catalog();
  Batch batch;
  std::vector<std::array<uint64_t, 2>> wanted;  // registers 1 and 3 before each step
  uint64_t one = 0, other = 0;
  for (size_t i = 0; i < kSteps; ++i) {
    if (i == 20000) {
      Event& mark = batch.add();
      mark.body = Mark{"session", true};
      one = other = 0;
    }
    std::vector<Step::RegisterChange> before;
    const auto tell = [&](uint32_t index, uint64_t& value) {
      value = i + 1;
      const std::span<uint8_t> bytes = batch.array<uint8_t>(8);
      store_uint(bytes.data(), value, 8, Endian::Little);
      before.push_back({index, bytes});
    };
    if (i % 3 == 0) tell(1, one);
    if (i % 25000 == 3) tell(3, other);
    wanted.push_back({one, other});
    Step step;
    step.before = batch.copy_array(std::span<const Step::RegisterChange>(before));
    Event& event = batch.add();
    event.tid = 1;
    event.body = step;
  }
  tracewell::test::ListSource source(catalog, batch.events());
  const auto store = *StepStore::read(source);
  for (size_t i = 0; i < kSteps; i += 997) {
    StepIndex::Moment moment;
    ASSERT_TRUE(store->state_before(i, moment).ok());
    for (const uint32_t index : {1u, 3u}) {
      const uint8_t* at =
          moment.registers.block.data() + catalog.registers.registers[index].offset;
      EXPECT_EQ(load_uint(at, 8, Endian::Little), wanted[i][index / 2]) << i;
    }
  }
}

}  // namespace
}  // namespace tracewell::timeline::test
