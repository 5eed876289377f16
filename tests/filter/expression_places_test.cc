// Where an expression can hold at all.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "filter/expression.h"
#include "machine/x86.h"

namespace tracewell::filter {
namespace {

Catalog x86() {
  Catalog catalog;
  catalog.machine = "x86-64";
  catalog.registers = machine::x86_64_layout({});
  return catalog;
}

/// "a..b c..d", "none" or "anywhere".
std::string places(const std::string& text) {
  const auto where = Expression::parse(text, x86());
  if (!where.ok()) return where.error().text();
  const auto all = where->places();
  if (!all) return "anywhere";
  std::string out;
  for (const auto& one : *all)
    out += fmt::format("{}{:x}..{:x}", out.empty() ? "" : " ", one.first, one.last);
  return out.empty() ? "none" : out;
}

TEST(ExpressionPlaces, AreThoseOfConjunctions) {
  EXPECT_EQ(places("pc == 0x10"), "10..10");
  EXPECT_EQ(places("0x10 == pc && $rax == 1"), "10..10");
  EXPECT_EQ(places("tid == 3 && (mnemonic == 'mov' || write) && pc in 0x10..0x1f"), "10..1f");
  EXPECT_EQ(places("pc in 0x10,4"), "10..13");
  EXPECT_EQ(places("pc == 0x30 || pc == 0x10 || pc in 0x10..0x12"), "10..12 30..30");
  EXPECT_EQ(places("pc >= 0x10 && 0x20 > pc"), "10..1f");
  EXPECT_EQ(places("0x10 <= pc && pc <= 0x20 && pc > 0x18"), "19..20");
  EXPECT_EQ(places("pc == 1 && pc == 2"), "none");
  EXPECT_EQ(places("pc < 0"), "none");
  EXPECT_EQ(places("pc > 0xffffffffffffffff"), "none");
  EXPECT_EQ(places("pc >= 0"), "0..ffffffffffffffff");
}

TEST(ExpressionPlaces, AreNotKnownOfOthers) {
  for (const char* text :
       {"tid == 3", "pc == 1 || tid == 3", "!(pc == 1)", "!(pc != 1)", "pc != 1", "pc", "pc == seq",
        "pc == $rax", "pc > -1", "pc == -1", "$rax == 0x10", "$rip == 0x10", "seq in 1..4",
        "kind == \"mark\"", "module =~ \"a\""})
    EXPECT_EQ(places(text), "anywhere") << text;
  std::string many = "pc == 0";
  for (int i = 2; i < 1000; i += 2) many += fmt::format(" || pc == {}", i);
  EXPECT_EQ(places(many), "anywhere");
}

/// Whatever the expression is: an event for which it holds is at one of its places.
TEST(ExpressionPlaces, HoldAllEventsForWhichTheExpressionHolds) {
  std::mt19937 random(1);
  const auto one = [&] {
    constexpr const char* kLeaves[] = {
        "pc == 3",        "pc < 4",           "5 <= pc",          "pc in 2..6",
        "pc > 6",         "7 > pc",           "pc != 4",          "pc",
        "tid == 1",       "seq < 3",          "kind == \"mark\"", "kind == \"lost\"",
        "text == \"a\"", "tracepoint == 0"};
    return std::string(kLeaves[random() % std::size(kLeaves)]);
  };
  const auto some = [&](auto&& self, int depth) -> std::string {
    if (depth == 0 || random() % 4 == 0) return one();
    const std::string left = self(self, depth - 1), right = self(self, depth - 1);
    if (random() % 6 == 0) return fmt::format("!({})", left);
    return fmt::format("({}) {} ({})", left, random() % 2 == 0 ? "&&" : "||", right);
  };
  uint64_t known = 0, held = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = some(some, 4);
    const auto where = Expression::parse(text, x86());
    ASSERT_TRUE(where.ok()) << text;
    const auto all = where->places();
    if (!all) continue;
    ++known;
    for (uint64_t pc = 0; pc < 12; ++pc) {
      Event event;
      event.seq = pc % 5;
      event.tid = pc % 2;
      Step step;
      step.pc = pc;
      event.body = step;
      if (pc == 9) event.body = Mark{"a", false};
      if (pc == 10) event.body = Lost{1, "a"};
      if (pc == 11) event.body = Hook{};
      if (!where->matches(event)) continue;
      ++held;
      EXPECT_LT(pc, 9u) << text;
      bool inside = false;
      for (const auto& place : *all) inside |= pc >= place.first && pc <= place.last;
      EXPECT_TRUE(inside) << text << " at " << pc;
    }
  }
  EXPECT_GT(known, 300u);
  EXPECT_GT(held, 300u);
}

}  // namespace
}  // namespace tracewell::filter
