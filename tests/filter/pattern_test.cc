#include "filter/pattern.h"

#include <regex.h>

#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "filter/expression.h"

namespace tracewell::filter {
namespace {

using namespace std::string_view_literals;

bool found(const std::string& pattern, std::string_view text) {
  const auto one = Pattern::compile(pattern);
  EXPECT_TRUE(one.ok()) << pattern << ": " << one.error().message;
  return one.ok() && one->found_in(text);
}

std::string refused(const std::string& pattern) {
  const auto one = Pattern::compile(pattern);
  EXPECT_FALSE(one.ok()) << pattern;
  return one.ok() ? "" : one.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Pattern, IsFoundWhereGrepFindsIt) {
  EXPECT_TRUE(found("^j", "jne 0x10"));
  EXPECT_FALSE(found("^n", "jne 0x10"));
  EXPECT_TRUE(found("10$", "jne 0x10"));
  EXPECT_TRUE(found("JNE|call", "jne 0x10"));
  EXPECT_TRUE(found("[[:digit:]]x[^a-f]", "0x10"));
  EXPECT_TRUE(found("a{2,3}b", "xaaab"));
  EXPECT_FALSE(found("^a{,1}b", "aab"));
  EXPECT_TRUE(found("^(ab)+$", "abAB"));
  EXPECT_TRUE(found("\\[rsp\\+0x08\\]", "mov rax, [rsp+0x08]"));
  EXPECT_TRUE(found("", ""));
  EXPECT_TRUE(found("a||b", "x"));
  EXPECT_TRUE(found(")", "f()"));
}

TEST(Pattern, WordsAndClassesOfGrep) {
  EXPECT_TRUE(found("\\bmov\\b", "rep mov x"));
  EXPECT_FALSE(found("\\bmov\\b", "movs"));
  EXPECT_TRUE(found("\\Bov", "mov"));
  EXPECT_TRUE(found("^\\w+\\s\\W\\S\\d\\D$", "a_1\v.x7y"));
  EXPECT_TRUE(found("\\`a\\'", "A"));
  EXPECT_TRUE(found("[\\d]", "\\"));  // a backslash in brackets stands for itself
  EXPECT_FALSE(found("[\\d]", "7"));
  EXPECT_TRUE(found("^[]a-]+$", "]-a"));
  EXPECT_TRUE(found("^[^]a]$", "b"));
}

TEST(Pattern, EndsOfTheTextAreNotThoseOfItsLines) {
  EXPECT_FALSE(found("^b", "a\nb"));
  EXPECT_FALSE(found("a$", "a\nb"));
  EXPECT_FALSE(found("a$", "a\n"));
  EXPECT_TRUE(found("a.b", "a\nb"));
  EXPECT_TRUE(found("a[^x]b", "a\nb"));
}

TEST(Pattern, ZeroBytesAreBytes) {
  EXPECT_TRUE(found("b$", "a\0b"sv));
  EXPECT_FALSE(found("a$", "a\0b"sv));
  EXPECT_TRUE(found("a.b", "a\0b"sv));
  EXPECT_TRUE(found("a[^x]b", "a\0b"sv));
  EXPECT_TRUE(found(std::string("a\0B"sv), "xa\0b"sv));
  EXPECT_FALSE(found(std::string("a\0c"sv), "xa\0b"sv));
}

TEST(Pattern, TextsNeedNoEncoding) {
  EXPECT_TRUE(found("end", "\xff\xc3 end"));
  EXPECT_TRUE(found("^.{3}end$", "\xff\xc3 end"));
  EXPECT_TRUE(found("gr\xfc\xdf", "Gr\xfc\xdf"));          // Latin-1
  EXPECT_TRUE(found("gr\xc3\xbc\xc3\x9f", "Gr\xc3\xbc\xc3\x9f"));  // UTF-8
  EXPECT_TRUE(found("[^a]\xc3", "\x80\xc3"));
  EXPECT_TRUE(found("\xc3\xa9|\xc3", "_\xc3"));
  EXPECT_TRUE(found("a\xc3|a.", "a\xff"));
  // These are no two cases of a letter: one is a part of another letter.
  EXPECT_FALSE(found("\xc3\x81", "\xe3\x81\x82"));
}

TEST(Pattern, WhatWouldTakeMuchIsRefused) {
  for (const char* const text : {"a{1000}{1000}", "(a{1000}){1000}", "((a{99}){99}){99}", "a{1001}",
                                 "a{99999}", "a{99999999999}", "a{3,2}"})
    EXPECT_TRUE(has(refused(text), "1000 times")) << text;
  std::string large;
  for (int i = 0; i < 20; ++i) large += "(abcd){900}";
  EXPECT_TRUE(has(refused(large), "too many states"));
  EXPECT_TRUE(has(refused("[a-z0-9]{900}[^a-z]{900}(abcd){900}"), "too many states"));
  EXPECT_TRUE(has(refused(std::string(2000, 'a')), "too long"));
  EXPECT_TRUE(found("a{1000}", std::string(1000, 'a')));
  EXPECT_FALSE(found("a{1000}", std::string(999, 'a')));
}

TEST(Pattern, LongTextsAreSearchedOnce) {
  std::string text(size_t{1} << 22, 'a');
  EXPECT_FALSE(found("(a|aa)*b", text));
  EXPECT_FALSE(found("(a*)*(a*)*b$", text));
  EXPECT_FALSE(found("^(a?){100}a{100}b", text));
  text += 'b';
  EXPECT_TRUE(found("(a|aa)*b", text));
}

TEST(Pattern, MistakesSayWhatToWrite) {
  const std::string open = refused("mov (a");
  EXPECT_TRUE(has(open, "\"mov (a\"") && has(open, "has no )") && has(open, "\\(")) << open;
  EXPECT_TRUE(has(refused("[a"), "a [ has no ]"));
  EXPECT_TRUE(has(refused("[[:bogus:]]"), "no class [:bogus:]"));
  EXPECT_TRUE(has(refused("[[:alpha"), "a [ has no ]"));
  EXPECT_TRUE(has(refused("[z-a]"), "ends before it begins"));
  EXPECT_TRUE(has(refused("*a"), "before the *"));
  EXPECT_TRUE(has(refused("a|+"), "before the +"));
  EXPECT_TRUE(has(refused("(?i)a"), "before the ?"));
  EXPECT_TRUE(has(refused("^{2}"), "before the {"));
  EXPECT_TRUE(has(refused("a{2"), "a { has no }"));
  EXPECT_TRUE(has(refused("a{x}"), "no number"));
  EXPECT_TRUE(has(refused("a\\"), "ends with \\"));
  EXPECT_TRUE(has(refused("(a)\\1"), "not known"));
  EXPECT_TRUE(has(refused("\\<a"), "\\b is the border"));
  EXPECT_TRUE(has(refused("\\pN"), "\\p means nothing"));
  EXPECT_TRUE(has(refused("[[=a=]]"), "not known"));
  EXPECT_TRUE(has(refused("[[.a.]]"), "not known"));
}

TEST(Pattern, DeepOnesAreRefusedOrSearched) {
  const std::string deep = std::string(500, '(') + "a" + std::string(500, ')');
  const auto one = Pattern::compile(deep);
  EXPECT_TRUE(!one.ok() || one->found_in("a"));
  const auto stars = Pattern::compile("a" + std::string(1000, '*') + "b");
  EXPECT_TRUE(!stars.ok() || stars->found_in("aab"));
}

/// The C library as a peer: what it takes, we take, and both find the same in the same texts. Left
/// out is what it is known to answer wrongly: ends of the text in the middle of a pattern.
class Peer {
 public:
  explicit Peer(const std::string& pattern)
      : made_(::regcomp(&regex_, pattern.c_str(), REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    if (made_) ::regfree(&regex_);
  }
  bool made() const { return made_; }
  bool found_in(const std::string& text) const {
    return ::regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_ = {};
  bool made_;
};

TEST(Pattern, RandomOnesAnswerAsTheLibraryOfC) {
  constexpr std::string_view kPieces[] = {
      "a",    "b",      "A",     "ab",       ".",    "(",           ")",
      "|",    "*",      "+",     "?",        "{2}",  "{0,1}",       "{1,}",
      "[ab]", "[^a]",   "[]",    "]",        "[a-c]", "[^b-]",      "\\w",
      "\\W", "\\s",   "\\b",  "\\.",     "\\\\", "[\\",         "\n",
      "\xc3\xa9", "\xc3", "\xff", "[[:alpha:]]", "[[:punct:][:space:]]"};
  constexpr std::string_view kLetters = "aAbBc.-\n \\]\xc3\xa9\xff_";
  std::mt19937 random(1);
  const auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  size_t both = 0, hits = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string pattern = below(4) == 0 ? "^" : "";
    for (size_t i = below(7); i-- > 0;) pattern += kPieces[below(std::size(kPieces))];
    if (below(4) == 0) pattern += "$";
    const Peer peer(pattern);
    const auto ours = Pattern::compile(pattern);
    if (!ours.ok() && peer.made()) ADD_FAILURE() << pattern << ": " << ours.error().message;
    if (!ours.ok() || !peer.made()) continue;
    ++both;
    for (int each = 0; each < 10; ++each) {
      std::string text;
      for (size_t i = below(6); i-- > 0;) text += kLetters[below(kLetters.size())];
      const bool expected = peer.found_in(text);
      hits += expected ? 1 : 0;
      EXPECT_EQ(ours->found_in(text), expected) << pattern << " in " << text;
    }
  }
  EXPECT_GT(both, 5000U);
  EXPECT_GT(hits, 10000U);
}

TEST(Pattern, AnExpressionSaysWhichPatternIsWrong) {
  const auto one = Expression::parse("text =~ \"a{1000}{1000}\"", Catalog());
  ASSERT_FALSE(one.ok());
  EXPECT_TRUE(has(one.error().message, "character 9")) << one.error().message;
  EXPECT_TRUE(has(one.error().message, "\"a{1000}{1000}\"")) << one.error().message;
  EXPECT_TRUE(has(one.error().message, "smaller numbers")) << one.error().message;
}

// A search cannot be stopped, so it has an end that depends on the pattern.
TEST(Pattern, LongTextsAreSearchedUpToABound) {
  const auto small = *Pattern::compile("ab");
  EXPECT_GT(small.searched_max(), 1u << 20);
  const auto large = *Pattern::compile("a[ab]{990}c|q$|r\\b|^(st)+$");
  const size_t most = large.searched_max();
  EXPECT_GT(most, 10000u);
  EXPECT_LT(most, 200000u);
  const auto found = [&](const std::string& end, const std::string& behind, bool others = false) {
    std::string text(most - end.size(), ' ');
    if (others) text.replace(0, 4, "\xe4\xf6\xfc\xff");
    return large.found_in(text + end + behind);
  };
  for (const bool others : {false, true}) {
    EXPECT_TRUE(found("q", "", others));
    EXPECT_FALSE(found("q", "x", others));   // it is not the text's end
    EXPECT_FALSE(found("", "q", others));    // it is not looked at
    EXPECT_TRUE(found("r", " x", others));
    EXPECT_FALSE(found("r", "x", others));   // nor a word's
    EXPECT_TRUE(found("r", "\xe4", others));
  }
  std::string repeated;
  while (repeated.size() < most) repeated += "st";
  EXPECT_TRUE(large.found_in(repeated.substr(0, most / 2 * 2)));
  EXPECT_FALSE(large.found_in(repeated + "st"));
}

}  // namespace
}  // namespace tracewell::filter
