#include "filter/limit.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace tracewell::filter {
namespace {

/// Events by letters: s step, f frame; n note, l loss, | session, of the step behind them; N a note
/// of another step. A space ends a batch.
class LetterSource final : public Source {
 public:
  explicit LetterSource(std::string letters) : letters_(std::move(letters)) {}
  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (; at_ < letters_.size() && letters_[at_] != ' '; ++at_) add(batch);
    ++at_;
    ++batches;
    return !batch.empty();
  }
  int batches = 0;

 private:
  void add(Batch& batch) {
    const char letter = letters_[at_];
    const std::string text(1, letter);
    const std::string_view kept = batch.copy(std::string_view(text));
    Event& event = batch.add();
    event.seq = steps_;
    if (letter == 's') event.body = Step();
    if (letter == 'f') event.body = Frame();
    if (letter == 'n' || letter == 'N') event.body = Mark{kept};
    if (letter == 'l' || letter == 'L') event.body = Lost{1, kept};
    if (letter == '|') event.body = Mark{kept, true};
    // Where there are no steps, each event has a number of its own, but what stands for losses
    // among events that were left out.
    const bool counts = letters_.find('s') == std::string::npos && letter != 'L';
    if (letter == 's' || letter == 'N' || counts) ++steps_;
  }

  Catalog catalog_;
  std::string letters_;
  size_t at_ = 0;
  uint64_t steps_ = 0;
};

char letter_of(const Event& event) {
  if (const auto* mark = std::get_if<Mark>(&event.body)) return mark->text[0];
  if (const auto* lost = std::get_if<Lost>(&event.body)) return lost->why[0];
  return std::holds_alternative<Step>(event.body) ? 's' : 'f';
}

std::string first(uint64_t limit, const std::string& letters, int* batches = nullptr) {
  auto source = std::make_unique<LetterSource>(letters);
  const LetterSource& counter = *source;
  const auto cut = limited(std::move(source), limit);
  std::string out;
  Batch batch;
  while (*cut->next(batch))
    for (const Event& event : batch.events()) out += letter_of(event);
  EXPECT_TRUE(batch.empty());
  if (batches) *batches = counter.batches;
  return out;
}

TEST(Limit, StepsAreCountedAndWhatIsNotedAtThemComesAlong) {
  EXPECT_EQ(first(1, "|nnslsnsss"), "|nns");
  EXPECT_EQ(first(2, "|nnslsnsss"), "|nnsls");
  EXPECT_EQ(first(3, "|nnslsnsss"), "|nnslsns");
  EXPECT_EQ(first(3, "sn n s|s ss"), "snns|s");
  EXPECT_EQ(first(9, "ssn"), "ssn");
  EXPECT_EQ(first(2, "ssn"), "ss");
  EXPECT_EQ(first(1, "nnn l |n nssn"), "nnnl|nns");
  EXPECT_EQ(first(2, std::string(64, 'n') + " ss"), std::string(64, 'n') + "ss");
}

TEST(Limit, OfOtherTracesEachEventCounts) {
  EXPECT_EQ(first(3, "|lfnf"), "|lfn");
  EXPECT_EQ(first(2, "nnn"), "nn");
  EXPECT_EQ(first(2, "f|f|f"), "f|f");
  EXPECT_EQ(first(2, "LfLfLf"), "LfLf");
}

TEST(Limit, NotesOfStepsThatAreNotShownCount) {
  EXPECT_EQ(first(2, "NNN"), "NN");
  EXPECT_EQ(first(2, "N NN s"), "NN");
  EXPECT_EQ(first(2, "Nnsss"), "Nns");
  EXPECT_EQ(first(9, "N n"), "Nn");
  EXPECT_EQ(first(70, std::string(100, 'N')), std::string(70, 'N'));
}

TEST(Limit, NothingIsReadBehindTheLastOne) {
  int batches = 0;
  EXPECT_EQ(first(2, "sss sss sss", &batches), "ss");
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(first(3, "sss sss sss", &batches), "sss");
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(first(4, "sss sss sss", &batches), "ssss");
  EXPECT_EQ(batches, 2);
}

TEST(Limit, WithoutOneTheSourceIsHandedBack) {
  auto source = std::make_unique<LetterSource>("sss");
  const Source* const same = source.get();
  EXPECT_EQ(limited(std::move(source), UINT64_MAX).get(), same);
}

}  // namespace
}  // namespace tracewell::filter
