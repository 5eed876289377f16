// What the steps of an x64dbg trace tell of registers, and what its index says of them: the same,
// though the index does not read as far ahead.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64_random_files.h"
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
  for (uint32_t seed = 0; seed < 12; ++seed) {
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

}  // namespace
}  // namespace tracewell::formats::test
