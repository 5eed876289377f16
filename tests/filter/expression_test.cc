#include "filter/expression.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/batch.h"

namespace tracewell::filter {
namespace {

class ExpressionTest : public testing::Test {
 protected:
  ExpressionTest() {
    catalog_.registers.registers = {
        {"rax", 0, 0, 8, "int64"}, {"cs", 1, 8, 4, "int32"}, {"xmm0", 2, 12, 16, "vec128"}};
    catalog_.registers.size_bytes = 28;
    block_.kind = FrameBlock::Kind::Registers;
    block_.bytes = bytes_;
    Frame frame;
    frame.tracepoint = 2;
    frame.pc = 0xffffffff81000000;
    frame.blocks = {&block_, 1};
    frame.registers_valid = mask_;
    event_.seq = 7;
    event_.time_ns = -5;
    event_.body = frame;
  }

  bool holds(std::string_view text) {
    auto expression = Expression::parse(text, catalog_);
    EXPECT_TRUE(expression.ok()) << text << ": " << expression.error().message;
    return expression.ok() && expression->matches(event_);
  }
  std::string error(std::string_view text) {
    auto expression = Expression::parse(text, catalog_);
    return expression.ok() ? "" : expression.error().message;
  }

  Catalog catalog_;
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(28, 1);
  std::vector<uint8_t> mask_ = {1};  // rax alone
  FrameBlock block_;
  Event event_;
};

TEST_F(ExpressionTest, Comparisons) {
  for (const char* yes : {"seq == 7",
                          "seq != 8",
                          "seq<8",
                          "seq <= 7",
                          "seq > 6",
                          "seq >= 0x7",
                          "7 == seq",
                          "pc == 0xffffffff81000000",
                          "pc > 0x7fffffffffffffff",
                          "time_ns == -5",
                          "time_ns < 0",
                          "time_ns > -6",
                          "tracepoint == 2",
                          "kind == \"frame\"",
                          "kind == 'frame'",
                          "kind != 'step'",
                          "$rax == 0x0101010101010101",
                          "seq",
                          "pc",
                          "-0 == 0",
                          "-1 < 0",
                          "-9223372036854775808 < -5"})
    EXPECT_TRUE(holds(yes)) << yes;
  for (const char* no : {"seq == 8", "seq < 7", "time_ns == 5", "kind == 'step'", "time_ns > 0",
                         "0", "-1 > 0", "''"})
    EXPECT_FALSE(holds(no)) << no;
}

TEST_F(ExpressionTest, WhatIsNotThereComparesFalse) {
  for (const char* no :
       {"tid == 0", "tid != 0", "cpu < 5", "tid", "id == 1", "$cs == 1", "$cs != 1"})
    EXPECT_FALSE(holds(no)) << no;
  EXPECT_TRUE(holds("!(tid == 0)"));
}

TEST_F(ExpressionTest, LogicAndItsPrecedence) {
  EXPECT_TRUE(holds("1 || 0 && 0"));
  EXPECT_FALSE(holds("(1 || 0) && 0"));
  EXPECT_TRUE(holds("!0 && !(seq == 8)"));
  EXPECT_TRUE(holds("!!seq"));
  EXPECT_TRUE(holds(" ( ( seq==7 ) ) "));
  EXPECT_TRUE(holds("0||0||seq==7"));
}

TEST_F(ExpressionTest, MistakesAreLocated) {
  EXPECT_NE(error("seq == "), "");
  EXPECT_NE(error("seq = 7").find("character 5"), std::string::npos);
  EXPECT_NE(error("bogus == 1").find("expected a number"), std::string::npos);
  EXPECT_NE(error("tid = 100").find("compared by =="), std::string::npos);
  EXPECT_NE(error("tid = 100").find("character 5"), std::string::npos);
  EXPECT_NE(error("$rbx == 1").find("no such register"), std::string::npos);
  EXPECT_NE(error("$xmm0 == 1").find("wider"), std::string::npos);
  EXPECT_NE(error("(seq == 7").find("parenthesis"), std::string::npos);
  EXPECT_NE(error("kind == \"frame").find("no end"), std::string::npos);
  EXPECT_NE(error("seq == 0x1g"), "");
  EXPECT_NE(error("seq == 99999999999999999999"), "");
  EXPECT_NE(error("seq == -9223372036854775809"), "");
  EXPECT_NE(error(""), "");
  EXPECT_NE(error("1 1"), "");
  EXPECT_NE(error(std::string(1000, '(')).find("deep"), std::string::npos);
  EXPECT_NE(error(std::string(1000, '!')).find("deep"), std::string::npos);
  EXPECT_NE(error(std::string(20000, ' ')).find("long"), std::string::npos);
}

TEST_F(ExpressionTest, LongChainsAreFine) {
  std::string chain = "seq == 1";
  while (chain.size() < 16000) chain += " || seq == 1";
  EXPECT_FALSE(holds(chain));
}

TEST_F(ExpressionTest, StepsAndHooks) {
  const uint8_t value[8] = {5};
  const Step::RegisterChange change{0, value};
  Step step;
  step.pc = 0x10;
  step.registers = {&change, 1};
  event_.body = step;
  EXPECT_TRUE(holds("kind == 'step' && pc == 16 && $rax == 5"));
  EXPECT_FALSE(holds("tracepoint == 0"));
  Hook hook;
  hook.id = 0x100;
  hook.subhook = 3;
  event_.body = hook;
  EXPECT_TRUE(holds("id == 0x100 && subhook == 3"));
  EXPECT_FALSE(holds("$rax == 5 || pc == 16"));
}

TEST_F(ExpressionTest, SearchesAreWatched) {
  const std::string text(400000, 'a');
  event_.body = Mark{.text = text};
  auto expression =
      *Expression::parse("text =~ 'b' || text =~ 'a[ab]{990}c' || text =~ 'a'", catalog_);
  EXPECT_TRUE(expression.matches(event_));
  std::vector<size_t> cut;
  bool stops = false;
  expression.watch({[&] { return stops; },
                    [&](size_t bytes, size_t searched) { cut = {bytes, searched}; }});
  EXPECT_TRUE(expression.matches(event_));
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0], text.size());
  EXPECT_LT(cut[1], 100000u);
  cut.clear();
  stops = true;
  EXPECT_FALSE(expression.matches(event_));
  EXPECT_TRUE(cut.empty());
}

}  // namespace
}  // namespace tracewell::filter
