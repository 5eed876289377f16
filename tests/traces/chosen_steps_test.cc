// What --where selects of the steps that the index chose is what it selects of all steps, to the
// last byte of what each tells; and few are read.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "filter/select.h"
#include "filter/step_notes.h"
#include "formats/trace64/random_files.h"
#include "formats/trace64/sums.h"
#include "model/source_over.h"
#include "sanitized.h"
#include "timeline/chosen_steps.h"

namespace tracewell::formats::test {
namespace {

using tracewell::test::kEach;
using timeline::AddressRange;
using timeline::Timeline;

/// All that an event says, a line each.
std::string told(const Event& event) {
  std::string out = fmt::format("{} {} {} {}", event.body.index(), event.seq, event.tid, event.cpu);
  if (const auto* mark = std::get_if<Mark>(&event.body))
    return out + fmt::format(" {} {}\n", mark->text, mark->session);
  if (const auto* lost = std::get_if<Lost>(&event.body))
    return out + fmt::format(" {} {}\n", lost->count, lost->why);
  const Step& step = std::get<Step>(event.body);
  out += fmt::format(" {:x} {} {} {}", step.pc, to_hex(step.opcode), step.after_known,
                     step.memory_incomplete);
  for (const auto& one : step.before) out += fmt::format(" b{}={}", one.index, to_hex(one.value));
  for (const auto& one : step.registers)
    out += fmt::format(" r{}={}", one.index, to_hex(one.value));
  for (const auto& one : step.memory)
    out += fmt::format(" m{:x},{},{}:{}:{}", one.address, one.size, static_cast<int>(one.kind),
                       to_hex(one.old_bytes), to_hex(one.new_bytes));
  return out + fmt::format(" {}\n", to_hex(step.stored));
}

std::string all_told(Source& source) {
  std::string out;
  Batch batch;
  while (true) {
    const auto more = source.next(batch);
    for (const Event& event : batch.events()) out += told(event);
    if (!more.ok()) return out + "error: " + more.error().text();
    if (!*more) return out;
  }
}

/// Counts the steps that were handed out.
class CountedSteps final : public SourceOver {
 public:
  CountedSteps(std::unique_ptr<Source> source, uint64_t& count)
      : SourceOver(std::move(source)), count_(count) {}
  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    count_ += batch.size();
    return more;
  }

 private:
  uint64_t& count_;
};

class WhereByIndex {
 public:
  explicit WhereByIndex(const std::string& bytes, uint32_t seed)
      : bytes_(bytes), random_(seed), opened_(bytes, "trace64") {
    steps_ = all_steps(*opened_.source);
  }

  bool is_sound() const { return opened_.source->reader_notes()->is_sound(); }
  bool empty() const { return steps_.empty(); }

  /// Where it holds in any of many places, and elsewhere in none.
  std::string expression(int depth = 3) {
    const uint64_t kind = random_() % (depth == 0 ? 5 : 8);
    const uint64_t low = some().pc, high = low + 1 + random_() % 64;
    if (kind < 2) return fmt::format("pc == {:#x}", some().pc);
    if (kind == 2) return fmt::format("pc in {:#x}..{:#x}", low, high);
    if (kind == 3) return other();
    if (kind == 4) return fmt::format("{:#x} <= pc && pc < {:#x}", low, high);
    const std::string left = expression(depth - 1), right = expression(depth - 1);
    if (kind == 5 && random_() % 4 == 0) return fmt::format("!({})", left);
    return fmt::format("({}) {} ({})", left, kind == 7 ? "||" : "&&", right);
  }

  /// Is it asked by the index? Then both ways have to agree.
  bool agree(const std::string& text, uint64_t segment_steps) {
    const auto where = filter::Expression::parse(text, opened_.source->catalog());
    EXPECT_TRUE(where.ok()) << text;
    const auto places = where->places();
    if (!places) return false;
    filter::Selection selection;
    if (random_() % 3 == 0) selection.from = random_() % (steps_.size() + 2);
    if (random_() % 3 == 0) selection.to = selection.from + random_() % (steps_.size() + 2);
    selection.where = *where;
    std::vector<Note> notes;
    for (int i = 0; i < 20; ++i) notes.push_back({random_() % (steps_.size() + 3), "a note"});
    std::ranges::sort(notes, {}, &Note::step);
    const std::string wanted = all_told(*filter::select(
        filter::with_notes(read_again(), notes, false), selection));
    const std::string got = all_told(*filter::select(
        filter::with_notes(chosen(*places, selection, segment_steps), notes, false), selection));
    EXPECT_EQ(got, wanted) << text << " from " << selection.from << " to " << selection.to;
    answers_ += wanted.empty() ? 0 : 1;
    return true;
  }
  uint64_t answers() const { return answers_; }

  std::unique_ptr<Source> read_again() {
    kept_.push_back(std::make_unique<Opened>(bytes_, "trace64"));
    return std::move(kept_.back()->source);
  }

 private:
  std::unique_ptr<Source> chosen(const std::vector<filter::Expression::Places>& places,
                                 const filter::Selection& selection, uint64_t segment_steps) {
    std::unique_ptr<Source> source = read_again();
    timeline::TimelineOptions options;
    options.build.segment_steps = segment_steps;
    options.build.workers = 1;
    auto index = Timeline::open(*source->steps(), source->catalog(), as_bytes(bytes_), options);
    EXPECT_TRUE(index.ok());
    std::vector<uint64_t> steps;
    for (const auto& one : places) {
      const auto some = index->executions({one.first, one.last}, selection.from, UINT64_MAX);
      steps.insert(steps.end(), some.begin(), some.end());
    }
    std::ranges::sort(steps);
    return timeline::chosen_steps(std::move(source), *std::move(index), std::move(steps));
  }
  const Known& some() { return steps_[random_() % steps_.size()]; }
  std::string other() {
    switch (random_() % 8) {
      case 0: return fmt::format("tid == {}", some().tid);
      case 1: return fmt::format("step >= {}", some().seq);
      case 2: return "kind == \"mark\"";
      case 3: return "$ecx.before >= 0x80";
      case 4: return "kind == \"step\"";
      case 5: return "write";
      case 6: return "mnemonic =~ \"^m\"";
      default: return fmt::format("$eax != {:#x}", random_() % 256);
    }
  }

  std::string bytes_;
  std::mt19937_64 random_;
  Opened opened_;
  std::vector<Known> steps_;
  std::vector<std::unique_ptr<Opened>> kept_;
  uint64_t answers_ = 0;
};

class ChosenSteps : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ChosenSteps, AreSelectedAsAllStepsAre) {
  const uint32_t seed = GetParam();
  std::string bytes = random_file(seed);
  if (seed % 4 == 3) {
    Opened opened(bytes, "trace64");
    bytes = saved(*opened.source, {.compat = false, .style = "minimal"});
  }
  WhereByIndex both(bytes, seed);
  ASSERT_TRUE(both.is_sound());
  uint64_t asked = 0;
  for (int i = 0; i < 24 && !HasFailure(); ++i)
    asked += both.agree(both.expression(), i % 3 == 0 ? 200 : 1 << 22) ? 1 : 0;
  EXPECT_GT(asked, 6u);
  EXPECT_GT(both.answers(), 1u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ChosenSteps, ::testing::Range(0u, 24u, uint32_t{kEach}));

/// Where something is missing, or looks odd, nobody asks the index.
TEST(ChosenStepsOf, DamageIsNotSound) {
  uint64_t damaged_files = 0;
  for (uint32_t seed = 0; seed < 60; seed += kEach) {
    const Opened opened(damaged(random_file(seed % 12), seed), "trace64");
    if (!opened.source) continue;
    const uint64_t before = opened.problems->count(Problem::Severity::Warning);
    const bool sound = opened.source->reader_notes()->is_sound();
    bool lost = false;
    Batch batch;
    while (*opened.source->next(batch))
      for (const Event& event : batch.events()) lost |= std::holds_alternative<Lost>(event.body);
    const bool told = opened.problems->count(Problem::Severity::Warning) != before;
    if (lost || told) {
      EXPECT_FALSE(sound) << seed;
    }
    damaged_files += lost || told ? 1 : 0;
  }
  EXPECT_GT(damaged_files, kEach == 1 ? 20u : 1u);
}

TEST(ChosenStepsOf, ALongTraceAreFewAndFewAreRead) {
  WhereByIndex file(file_of(true, record(windows_program(5, true, 1, 0, 40000), {true, false})), 1);
  std::unique_ptr<Source> source = file.read_again();
  const std::vector<Known> all = all_steps(*source);
  std::map<uint64_t, uint64_t> counts;
  for (const Known& one : all) ++counts[one.pc];
  uint64_t read = 0;
  source = std::make_unique<CountedSteps>(file.read_again(), read);
  auto index = Timeline::open(*source->steps(), source->catalog(), {}, {});
  ASSERT_TRUE(index.ok());
  const auto rare =
      std::ranges::min_element(counts, {}, [](const auto& one) { return one.second; });
  const AddressRange place = {rare->first, rare->first}, everywhere = {0, UINT64_MAX};
  EXPECT_FALSE(timeline::few_executions(*index, {&everywhere, 1}, 0, UINT64_MAX));
  const auto few = timeline::few_executions(*index, {&place, 1}, 0, UINT64_MAX);
  ASSERT_TRUE(few);
  ASSERT_EQ(few->size(), rare->second);
  read = 0;
  const auto chosen = timeline::chosen_steps(std::move(source), *std::move(index), *few);
  Batch batch;
  uint64_t steps = 0;
  while (*chosen->next(batch)) steps += batch.size();
  EXPECT_EQ(steps, few->size());
  // A reader that was sent to a place hands out a batch.
  EXPECT_LE(read, (few->size() + 1) * 64);
}

}  // namespace
}  // namespace tracewell::formats::test
