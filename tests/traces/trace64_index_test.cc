// What the steps of an x64dbg trace tell of registers, and what its index says of them: the same,
// though the index does not read as far ahead.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/random_files.h"
#include "sanitized.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace tracewell::formats::test {
namespace {

using timeline::ChangedBy;

class Told {
 public:
  explicit Told(Source& source) : layout_(source.catalog().registers) {
    Batch batch;
    while (*source.next(batch))
      for (const Event& event : batch.events()) add(event);
  }
  /// By step: registers that the instruction changed; and those that others did.
  std::vector<std::set<uint32_t>> own, others;
  size_t by_steps_that_others_follow = 0;

 private:
  void add(const Event& event) {
    if (const auto* mark = std::get_if<Mark>(&event.body); mark && mark->session) threads_.clear();
    const auto* step = std::get_if<Step>(&event.body);
    if (!step) return;
    if (last_ != event.tid && !own.empty()) by_steps_that_others_follow += own.back().size();
    last_ = event.tid;
    own.emplace_back();
    others.emplace_back();
    const auto [found, first] = threads_.try_emplace(event.tid);
    RegisterState& state = found->second;
    if (first) state.reset(layout_);
    for (const auto& one : step->before) {
      const RegisterState was = state;
      state.set(layout_, one.index, one.value);
      if (!first && (was.block != state.block || was.valid != state.valid))
        others.back().insert(one.index);
    }
    for (const auto& one : step->registers) {
      own.back().insert(one.index);
      state.set(layout_, one.index, one.value);
    }
  }

  const RegisterLayout& layout_;
  std::map<uint64_t, RegisterState> threads_;
  uint64_t last_ = 0;
};

void expect_same(const std::string& bytes, uint64_t segment_steps) {
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  const Told told(*opened.source);
  timeline::TimelineOptions options;
  options.build.segment_steps = segment_steps;
  const auto index = timeline::Timeline::open(*opened.source->steps(), opened.source->catalog(),
                                              as_bytes(bytes), options);
  ASSERT_TRUE(index) << index.error().text();
  ASSERT_EQ(index->steps(), told.own.size());
  const auto count = static_cast<uint32_t>(opened.source->catalog().registers.registers.size());
  for (uint64_t seq = 0; seq < told.own.size(); ++seq) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(index->next_change(i, ChangedBy::Instruction, seq) == seq,
                told.own[seq].contains(i))
          << seq << " register " << i;
      ASSERT_EQ(index->next_change(i, ChangedBy::Others, seq) == seq, told.others[seq].contains(i))
          << seq << " register " << i;
    }
  }
}

TEST(Trace64Index, SaysWhatTheStepsTell) {
  for (uint32_t seed = 0; seed < 12; seed += tracewell::test::kEach) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::string bytes = random_file(seed);
    const uint64_t segment_steps = seed % 2 == 0 ? 100 + seed * 30 : UINT64_MAX;
    expect_same(bytes, segment_steps);
    expect_same(damaged(bytes, seed), segment_steps);
    if (HasFatalFailure()) return;
  }
  Opened opened(random_file(4), "trace64");
  EXPECT_GT(Told(*opened.source).by_steps_that_others_follow, 500u);
}

/// Where there are no full dumps, and so registers that become known later.
TEST(Trace64Index, SaysWhatTheStepsTellOfWhatIsKnownInPart) {
  const auto moments = windows_program(3, true, 3, 15, 3000);
  std::string blocks;
  for (size_t i = 0; i < moments.size(); ++i) {
    RawBlock block;
    block.opcode = moments[i].opcode;
    block.tid = moments[i].tid;
    for (uint32_t word = 0; word < 172; ++word)
      if (i == 0 ? word < 60 : moments[i].words[word] != moments[i - 1].words[word])
        block.words.emplace_back(word, moments[i].words[word]);
    blocks += block.bytes();
  }
  expect_same(file_of(true, blocks), 700);
}

/// "0102": eight bytes at 0x5000 before each step; "?" where they are not known.
std::vector<std::string> contents(const std::string& bytes, std::string_view format) {
  Opened opened(bytes, format);
  std::unique_ptr<timeline::StepStore> store;
  if (!opened.source->steps()) store = *timeline::StepStore::read(*opened.source);
  const StepIndex& steps = store ? *store : *opened.source->steps();
  const auto index = timeline::Timeline::open(steps, opened.source->catalog(), as_bytes(bytes), {});
  std::vector<std::string> out;
  for (uint64_t at = 0; at <= index->steps(); ++at) {
    std::vector<uint8_t> held(8);
    std::vector<ByteState> states(8);
    index->memory(at, 0x5000, held, states);
    out.push_back(states[0] == ByteState::Unknown ? "?" : std::to_string(held[0]));
  }
  return out;
}

/// What was written while nobody looked is not what was there before, nor what is there later.
TEST(Trace64Index, MemoryDoesNotReachAcrossALoss) {
  std::vector<Moment> moments(7);
  for (size_t i = 0; i < moments.size(); ++i) {
    moments[i].words.assign(172, 0);
    moments[i].words[16] = 0x401000 + i + (i > 1 ? 2 : 0) + (i > 4 ? 2 : 0);
    moments[i].words[3] = 0x5000;
    moments[i].opcode = "\x90";
  }
  moments[1].opcode = moments[4].opcode = "\x48\x89\x03";  // mov [rbx], rax
  moments[1].entries = {{0x5000, 1, 2}};
  moments[4].entries = {{0x5000, 3, 4}};
  const std::string whole = file_of(true, record(moments, {}));
  EXPECT_EQ(contents(whole, "trace64"),
            (std::vector<std::string>{"1", "1", "2", "2", "3", "4", "4"}));
  Opened opened(whole, "trace64");
  Batch batch;
  ASSERT_TRUE(*opened.source->next(batch));
  std::vector<Event> events(batch.events().begin(), batch.events().end());
  Event lost;
  lost.seq = 3;
  lost.body = Lost{0, "nobody looked"};
  events.insert(events.begin() + 3, lost);
  const std::vector<std::string> expected = {"1", "1", "2", "3", "3", "4", "4"};
  for (const char* format : {"trace64", "jsonl"}) {
    ListSource with_loss(opened.source->catalog(), events);
    EXPECT_EQ(contents(written(with_loss, format), format), expected) << format;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
