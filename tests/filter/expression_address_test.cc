// Questions for module and symbol are asked once of each address; searches in names that are far
// longer than what a trace has to say of its steps end, and say so.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "filter/expression.h"
#include "filter/search_budget.h"
#include "sanitized.h"

namespace tracewell::filter {
namespace {

constexpr std::string_view kLarge = "symbol =~ 'a[ab]{900}c|end$|^begin'";
constexpr size_t kLargeStates = 900;  // and some more

class AddressQuestions : public testing::Test {
 protected:
  Expression parsed(std::string_view text) {
    Catalog catalog;
    catalog.machine = "x86-64";
    const auto name = [this](uint64_t address) {
      ++named_;
      return front_ + std::to_string(address) + back_;
    };
    auto expression = Expression::parse(text, catalog, {name, name});
    EXPECT_TRUE(expression.ok()) << text;
    SearchWatch watch;
    watch.cut = [this](size_t, size_t) { ++cut_; };
    watch.spent = [this](size_t bytes, size_t searched) {
      ++spent_;
      missed_ += bytes - searched;
    };
    if (step_ns_ != 0) watch.processor_ns = [this] { return clock_ns_ += step_ns_; };
    expression->watch(std::move(watch));
    return *std::move(expression);
  }
  static bool ask(const Expression& expression, uint64_t pc, bool frame = false) {
    Event event;
    if (frame) {
      Frame body;
      body.pc = pc;
      event.body = body;
    } else {
      Step body;
      body.pc = pc;
      event.body = body;
    }
    return expression.matches(event);
  }

  std::string front_, back_;
  size_t named_ = 0, cut_ = 0, spent_ = 0, missed_ = 0;
  int64_t step_ns_ = 0, clock_ns_ = 0;  // what a long search takes, and all of them; 0 = as it is
};

TEST_F(AddressQuestions, EachAddressIsNamedOnceForEachQuestion) {
  const Expression one = parsed("symbol =~ '^3$' || module == '2' || symbol < '0'");
  for (uint64_t i = 0; i < 1000; ++i) {
    const bool frame = i % 3 == 0;
    EXPECT_EQ(ask(one, i % 4, frame), i % 4 == 2 || i % 4 == 3) << i;
  }
  EXPECT_EQ(named_, 4U + 3 + 2);
}

TEST_F(AddressQuestions, WhatElseIsAskedIsNotRememberedWithThem) {
  const Expression one = parsed("symbol == mnemonic || symbol != module");
  for (uint64_t i = 0; i < 8; ++i) EXPECT_FALSE(ask(one, i % 2));
  Event other;
  other.body = Mark{.text = "1"};
  EXPECT_FALSE(parsed("symbol =~ '1'").matches(other));
  other.body = Frame();  // nobody knows where
  EXPECT_FALSE(parsed("symbol =~ '1'").matches(other));
}

TEST_F(AddressQuestions, LongNamesHaveABudgetForAllOfThem) {
  back_ = std::string(16000, 'z') + "end";
  step_ns_ = 25'000'000;
  const Expression one = parsed(kLarge);
  constexpr size_t kSteps = 1000;
  size_t found = 0;
  for (size_t i = 0; i < kSteps; ++i) found += ask(one, i) ? 1 : 0;
  // A search is begun while something is left.
  const int64_t first = SearchBudget::kFirstNs / step_ns_;
  EXPECT_GE(found, size_t(first));
  EXPECT_LE(found, size_t(first + SearchBudget::kEachNs * int64_t{kSteps} / step_ns_ + 1));
  EXPECT_EQ(found + spent_, kSteps);  // what was not searched was said
  EXPECT_EQ(cut_, 0U);
  EXPECT_GE(missed_, spent_ * (16000 - SearchBudget::kShort / kLargeStates));
  // What has an answer keeps it, and a short name is searched as ever.
  EXPECT_TRUE(ask(one, 0));
  front_ = "begin";
  EXPECT_TRUE(ask(one, kSteps));
  back_ = "end", front_ = "";
  EXPECT_TRUE(ask(one, kSteps + 1));
}

TEST_F(AddressQuestions, ALongTraceBringsMoreOfIt) {
  back_ = std::string(16000, 'z') + "end";
  step_ns_ = SearchBudget::kFirstNs;
  const Expression one = parsed(kLarge);
  uint64_t pc = 0;
  while (spent_ == 0) ask(one, ++pc);
  EXPECT_FALSE(ask(one, ++pc));
  for (int64_t i = 0; i < SearchBudget::kFirstNs / SearchBudget::kEachNs + 1; ++i)
    EXPECT_TRUE(ask(one, 1));
  EXPECT_TRUE(ask(one, ++pc));
}

// As nested templates have them: what is asked for stands at the end.
TEST_F(AddressQuestions, LongNamesThatAreSearchedFastAreAllSearched) {
  while (front_.size() < 2000) front_ += "std::tuple<boost::fusion::cons<rule_definition<tag_7, ";
  front_ += ">::parse_rule_";
  const Expression one = parsed("symbol =~ 'tuple<.*fusion::cons<.*rule_definition<.*"
                                "::parse_rule_[0-9]{1,6}([+][0-9]{1,4})?$'");
  constexpr uint64_t kSteps = 50000 / tracewell::test::kEach;
  for (uint64_t i = 0; i < kSteps; ++i) ASSERT_TRUE(ask(one, i)) << i;
  EXPECT_EQ(spent_ + cut_, 0U);
}

// The clock that is there when nobody gives one goes on with what the thread does.
TEST(SearchBudgetClock, CountsTheWorkOfTheThread) {
  const int64_t begin = thread_processor_ns();
  while (thread_processor_ns() == begin) continue;
  EXPECT_GT(thread_processor_ns(), begin);
}

// Some hundred thousand addresses, more than are remembered.
TEST_F(AddressQuestions, NamesAndPatternsOfUsualLengthAreAllSearched) {
  front_ = std::string(150, 'n');
  back_ = "::operator()(std::basic_string<char> const&) const+17";
  const Expression one = parsed("symbol =~ 'basic_(string|vector)<.*>.*7$' && !(symbol =~ '9::')");
  constexpr uint64_t kSteps = 200000 / tracewell::test::kEach;
  for (uint64_t i = 0; i < 2 * kSteps; ++i)
    ASSERT_EQ(ask(one, i % kSteps), i % kSteps % 10 != 9) << i;
  EXPECT_EQ(spent_ + cut_, 0U);
}

}  // namespace
}  // namespace tracewell::filter
