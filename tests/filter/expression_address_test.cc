// Questions for module and symbol are asked once of each address; searches in names that are far
// longer than what a trace has to say of its steps end, and say so.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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
    expression->watch({{},
                       [this](size_t, size_t) { ++cut_; },
                       [this](size_t bytes, size_t searched) {
                         ++spent_;
                         missed_ += bytes - searched;
                       }});
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
  const Expression one = parsed(kLarge);
  constexpr size_t kSteps = 1000, kAllowed = SearchBudget::kFirst + kSteps * SearchBudget::kEach;
  size_t bytes = 0, found = 0;
  for (size_t i = 0; i < kSteps; ++i) {
    found += ask(one, i) ? 1 : 0;
    bytes += std::to_string(i).size() + back_.size();
  }
  EXPECT_LE((bytes - missed_) * kLargeStates, kAllowed);
  EXPECT_GT(found, 50U);  // before it was spent
  EXPECT_EQ(found + spent_, kSteps);  // what was not searched was said
  EXPECT_EQ(cut_, 0U);
  // What has an answer keeps it, and a short name is searched as ever.
  EXPECT_TRUE(ask(one, 0));
  front_ = "begin";
  EXPECT_TRUE(ask(one, kSteps));
  back_ = "end", front_ = "";
  EXPECT_TRUE(ask(one, kSteps + 1));
}

TEST_F(AddressQuestions, ALongTraceBringsMoreOfIt) {
  back_ = std::string(16000, 'z') + "end";
  const Expression one = parsed(kLarge);
  uint64_t pc = 0;
  while (spent_ == 0) ask(one, ++pc);
  EXPECT_FALSE(ask(one, ++pc));
  for (int i = 0; i < 2000; ++i) EXPECT_TRUE(ask(one, 1));
  EXPECT_TRUE(ask(one, ++pc));
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
