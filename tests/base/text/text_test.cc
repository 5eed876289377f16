// Text from outside that is shown.
#include "base/text/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/message.h"

namespace tracewell {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const std::string text : {"", "plain", "C:\\a b\\ä ö 日本 😀.exe"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatTellsATerminalSomething) {
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\xc2\\x9b31m") << "CSI in one character";
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b") << "the same, longer than it may be";
}

TEST(Printable, EscapesWhatIsNoCharacter) {
  EXPECT_EQ(printable("\xe0\x81\x81"), "\\xe0\\x81\\x81") << "an A, longer than it may be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair of UTF-16";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "behind the last one";
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbd"), "\xf4\x8f\xbf\xbd");
}

TEST(Printable, SaysHowMuchIsLeftAsItIs) {
  EXPECT_EQ(printable_length(""), 0u);
  EXPECT_EQ(printable_length("a\u00f6b\nc"), 4u);
  EXPECT_EQ(printable_length("\x80"), 0u);
  EXPECT_EQ(printable_length("\u00f6\xc3"), 2u);
}

TEST(Printable, EscapesWhatShowsTextOtherThanItIs) {
  EXPECT_EQ(printable("a\u202egpj.exe"), "a\\xe2\\x80\\xaegpj.exe");
  for (const std::string one : {"\u00ad", "\u061c", "\u200b", "\u200f", "\u2028", "\u202a",
                                "\u2066", "\u2069", "\ufeff", "\U000e0041"})
    EXPECT_EQ(printable(one).find("\\x"), 0u) << one;
  for (const std::string one : {"\u00ac", "\u200a", "\u2027", "\u202f", "\u2070"})
    EXPECT_EQ(printable(one), one);
}

TEST(PlainJson, EscapesWhatPrintableEscapes) {
  const auto plain = [](std::string_view json) {
    std::string out = "<";
    append_plain_json(out, json);
    return out.substr(1);
  };
  EXPECT_EQ(plain(""), "");
  EXPECT_EQ(plain("{\n \"a\\n\": \"ä ö 日本 😀\"}"), "{\n \"a\\n\": \"ä ö 日本 😀\"}");
  EXPECT_EQ(plain("\"\x7f\xc2\x9b" "31m\""), "\"\\u007f\\u009b31m\"");
  EXPECT_EQ(plain("\"\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\""), "\"\\u202e\\u2028\\ufeff\"");
  EXPECT_EQ(plain("\"\xf3\xa0\x81\x81x\""), "\"\\udb40\\udc41x\"") << "two halves";
  EXPECT_EQ(plain("\"\x9b\""), "\"\\ufffd\"") << "no UTF-8";
  std::string all;
  for (uint32_t code = 0x20; code < 0x10000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    if (code < 0x80) {
      all += static_cast<char>(code);
    } else if (code < 0x800) {
      all += static_cast<char>(0xc0 | code >> 6);
      all += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      all += static_cast<char>(0xe0 | code >> 12);
      all += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      all += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  const std::string safe = plain(all);
  EXPECT_LT(printable_length(all), all.size());
  EXPECT_EQ(printable_length(safe), safe.size());
}

TEST(DidYouMean, NamesTheNearestFirst) {
  const std::vector<std::string> all = {"convert", "check", "calls", "report", "repair", "replay"};
  EXPECT_EQ(did_you_mean(all, "chekc", ""), "; did you mean check?");
  EXPECT_EQ(did_you_mean(all, "rep", "--"), "; did you mean --report, --repair or --replay?");
  EXPECT_EQ(did_you_mean(all, "call", ""), "; did you mean calls?");
  EXPECT_EQ(did_you_mean(all, "something", ""), "");
  EXPECT_EQ(did_you_mean({}, "check", ""), "");
  EXPECT_EQ(did_you_mean(all, std::string(100'000, 'x'), ""), "");
}

}  // namespace
}  // namespace tracewell
