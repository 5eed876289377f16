// Questions for mnemonic and disassembly are asked once of each instruction, and the answers stay
// those that each step would get by itself.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "filter/answer_cache.h"
#include "filter/expression.h"
#include "machine/control_flow.h"
#include "sanitized.h"

namespace tracewell::filter {
namespace {

using Opcode = std::vector<uint8_t>;

/// Random bytes behind one that begins a frequent instruction, among them relative ones.
Opcode random_opcode(std::mt19937& random) {
  constexpr uint8_t kBegins[] = {0x48, 0x8b, 0x89, 0xe8, 0xe9, 0xeb, 0x74, 0x75, 0x0f,
                                 0xc7, 0x8d, 0x50, 0xf3, 0x66, 0xff, 0x83, 0x90, 0xe2};
  Opcode out(1 + random() % 15);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random() % 8 == 0 ? 5 : random());
  if (random() % 8 != 0) out[0] = kBegins[random() % std::size(kBegins)];
  return out;
}

class CachedExpression : public testing::Test {
 protected:
  CachedExpression() { catalog_.machine = "x86-64"; }

  Expression parsed(std::string_view text) {
    auto expression = Expression::parse(text, catalog_);
    EXPECT_TRUE(expression.ok()) << text;
    return *std::move(expression);
  }
  static bool ask(const Expression& expression, Bytes opcode, uint64_t pc) {
    Event event;
    Step step;
    step.pc = pc;
    step.opcode = opcode;
    event.body = step;
    return expression.matches(event);
  }

  Catalog catalog_;
};

constexpr std::string_view kQuestions[] = {
    "disassembly =~ \"0x[0-9a-f]*4\"", "mnemonic =~ '^j'", "mnemonic == 'jz'", "mnemonic != 'je'",
    "mnemonic", "disassembly", "disassembly > 'mov'", "!(disassembly =~ 'rip|5')",
    "mnemonic =~ 'o' && disassembly =~ '7$' || disassembly == mnemonic"};

TEST_F(CachedExpression, RandomInstructionsGetTheAnswersThatTheyHaveAlone) {
  std::mt19937 random(7);
  std::vector<Expression> fresh;
  for (const std::string_view text : kQuestions) fresh.push_back(parsed(text));
  const std::vector<Expression> kept = fresh;
  std::vector<std::pair<Opcode, uint64_t>> seen;
  size_t yes = 0;
  constexpr size_t kRounds = 2000 / tracewell::test::kEach;
  for (size_t i = 0; i < kRounds; ++i) {
    // Often one that was there already, at its place or at another one.
    std::pair<Opcode, uint64_t> one;
    if (!seen.empty() && random() % 2 == 0) {
      one = seen[random() % seen.size()];
      if (random() % 2 == 0) one.second = random() % 3 == 0 ? 0 : 0x401000 + random() % 64;
    } else {
      one = {random_opcode(random), random() % 64 == 0 ? 0 : 0x401000 + random() % 4096};
      seen.push_back(one);
    }
    for (size_t q = 0; q < kept.size(); ++q) {
      const Expression alone = fresh[q];  // has been asked nothing
      const bool expected = ask(alone, one.first, one.second);
      yes += expected ? 1 : 0;
      ASSERT_EQ(ask(kept[q], one.first, one.second), expected)
          << kQuestions[q] << " at round " << i;
    }
  }
  EXPECT_GT(yes, kRounds * 3 / 2);
}

TEST_F(CachedExpression, MoreInstructionsThanAreRememberedGetRightAnswers) {
  const Expression expression = parsed("disassembly =~ '[13579bdf]$'");
  const Pattern pattern = *Pattern::compile("[13579bdf]$");
  const machine::FlowDecoder decoder("x86-64");
  constexpr uint32_t kDifferent = 2 * AnswerCache::kEntries;
  for (int round = 0; round < 2; ++round)
    for (uint32_t i = 0; i < kDifferent; ++i) {
      Opcode opcode = {0xb8, 0, 0, 0, 0};  // mov eax, i
      store_uint(opcode.data() + 1, i, 4, Endian::Little);
      const std::string text = decoder.text(opcode, 0x1000);
      ASSERT_EQ(ask(expression, opcode, 0x1000), pattern.found_in(text)) << text;
    }
  EXPECT_GT(expression.decoded(), uint64_t{kDifferent});  // some were forgotten
}

TEST_F(CachedExpression, EachInstructionIsDecodedOnce) {
  const Expression expression =
      parsed("disassembly =~ 'r1' || mnemonic == 'jz' || disassembly =~ 'nothing'");
  const Opcode opcodes[] = {{0x90}, {0x48, 0x89, 0xd8}, {0xc3}, {0x74, 0x10}};
  for (int i = 0; i < 100000; ++i)
    EXPECT_EQ(ask(expression, opcodes[i % 4], 0x1000 + i % 32), i % 4 == 3);
  // Of the three that read alike everywhere three questions each; of the jump, that stands at eight
  // places, the first question at each place, and the second once.
  EXPECT_EQ(expression.decoded(), 3U * 3 + 8 + 1);
}

TEST_F(CachedExpression, WhatIsLongerThanAnInstructionIsAskedEachTime) {
  const Expression expression = parsed("mnemonic == 'nop'");
  Opcode opcode(AnswerCache::kOpcodeMax + 1, 0xcc);
  opcode[0] = 0x90;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(expression, opcode, 0x1000));
  EXPECT_EQ(expression.decoded(), 3U);
  Event other;
  other.body = Mark{"nop"};
  EXPECT_FALSE(expression.matches(other));
}

TEST_F(CachedExpression, ACopyAnswersForItself) {
  const Expression first = parsed("mnemonic == 'nop'");
  const Opcode nop = {0x90}, ret = {0xc3};
  EXPECT_TRUE(ask(first, nop, 0));
  const Expression second = first;
  EXPECT_TRUE(ask(second, nop, 0));
  EXPECT_FALSE(ask(second, ret, 0));
  EXPECT_FALSE(ask(first, ret, 0));
}

TEST(AnswerCache, TellsApartWhateverDiffers) {
  using Answer = AnswerCache::Answer;
  AnswerCache cache;
  const Opcode one = {0x90}, padded = {0x90, 0};
  EXPECT_EQ(cache.find(AnswerCache::key(1, one, 5)), Answer::Unknown);
  cache.put(AnswerCache::key(1, one, 5), Answer::Yes);
  EXPECT_EQ(cache.find(AnswerCache::key(1, one, 5)), Answer::Yes);
  EXPECT_EQ(cache.find(AnswerCache::key(1, padded, 5)), Answer::Unknown);
  EXPECT_EQ(cache.find(AnswerCache::key(1, one, 6)), Answer::Unknown);
  EXPECT_EQ(cache.find(AnswerCache::key(2, one, 5)), Answer::Unknown);
  EXPECT_EQ(cache.find(AnswerCache::key(1, {}, 5)), Answer::Unknown);
}

}  // namespace
}  // namespace tracewell::filter
