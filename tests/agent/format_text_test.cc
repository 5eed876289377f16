// What `dprintf` in agent style prints: the same as C's printf, for what both know.
#include "agent/session/format_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace tracewell::agent {
namespace {

std::string no_string(uint64_t, size_t) { return "?"; }

std::string formatted(std::string_view format, std::vector<uint64_t> values = {},
                      const StringReader& reader = no_string) {
  auto text = format_text(format, values, reader);
  return text ? *text : "error: " + text.error().message;
}

/// Every combination of flags, width and precision, against the C library.
TEST(FormatText, IsWhatPrintfWouldPrint) {
  std::mt19937_64 random(7);
  const std::vector<uint64_t> values = {0, 1, 7, 8, 255, 0x7fffffff, 0x80000000, UINT64_MAX,
                                        static_cast<uint64_t>(INT64_MIN), random(), random()};
  for (unsigned flags = 0; flags < 32; ++flags)
    for (const char* field : {"", "1", "12", ".0", ".5", "12.7", "."})
      for (const char* directive : {"d", "i", "u", "x", "X", "o", "hhd", "hhu", "hd", "hx", "ld",
                                    "lu", "lx", "lo", "lld", "llx", "zu", "jd"})
        for (const uint64_t value : values) {
          std::string format = "%";
          for (unsigned i = 0; i < 5; ++i)
            if (flags >> i & 1) format += "-+ #0"[i];
          // What the standard leaves open, or what is no use, compilers warn about; libc's answer
          // is the measure all the same.
          format += std::string(field) + directive;
          char expected[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
          std::snprintf(expected, sizeof expected, format.c_str(), value);
#pragma GCC diagnostic pop
          ASSERT_EQ(formatted(format, {value}), expected) << format << " of " << value;
        }
}

TEST(FormatText, PrintsDoublesFromTheirBits) {
  for (const double value : {0.0, 1.5, -2.25, 1e300, 1.0 / 3, -0.0, 123456789.0}) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    char expected[2048];
    std::snprintf(expected, sizeof expected, "%f|%10.2f|%-12.1e|%g|%+G|%012.3f", value, value,
                  value, value, value, value);
    EXPECT_EQ(formatted("%f|%10.2f|%-12.1e|%g|%+G|%012.3f", {bits, bits, bits, bits, bits, bits}),
              expected);
  }
  EXPECT_EQ(formatted("%08f", {std::bit_cast<uint64_t>(-1.0 / 0.0)}), "    -inf");
}

TEST(FormatText, ReadsStringsNoFurtherThanNeeded) {
  size_t asked = 0;
  const StringReader reader = [&](uint64_t address, size_t max) {
    asked = max;
    EXPECT_EQ(address, 0x500u);
    return std::string("hello").substr(0, max);
  };
  EXPECT_EQ(formatted("[%s][%8s][%-8s]", {0x500, 0x500, 0x500}, reader),
            "[hello][   hello][hello   ]");
  EXPECT_EQ(formatted("[%.2s]", {0x500}, reader), "[he]");
  EXPECT_EQ(asked, 2u);
  EXPECT_EQ(formatted("%s %5.2s|", {0, 0}), "(null)    (n|");
}

TEST(FormatText, KnowsCharactersPointersAndEscapes) {
  EXPECT_EQ(formatted("%c%3c%-3c|", {'x', 'y', 'z'}), "x  yz  |");
  EXPECT_EQ(formatted("%p %p|%8p|", {0x1234, 0, 0x12}), "0x1234 (nil)|    0x12|");
  EXPECT_EQ(formatted(R"(\a\b\e\f\n\r\t\v\\\"\101\0)"),
            std::string("\a\b\033\f\n\r\t\v\\\"A\0", 12));
  EXPECT_EQ(formatted(R"(\q)"), "\\q");
  EXPECT_EQ(formatted("\\"), "\\");
  EXPECT_EQ(formatted("100%%"), "100%");
}

/// What the program has in its memory must not act on a terminal; what the user typed may.
TEST(FormatText, ShowsControlCharactersOfTheProgramEscaped) {
  const StringReader reader = [](uint64_t address, size_t max) {
    return std::string(address == 1 ? "\033]0;owned\007 \302\233\r\302\256\377 a\tb\n" : "\033[1m")
        .substr(0, max);
  };
  EXPECT_EQ(formatted("%s|", {1}, reader),
            "\\x1b]0;owned\\x07 \\xc2\\x9b\\x0d\302\256\\xff a\tb\n|");
  EXPECT_EQ(formatted("%c%c%c%c|", {033, 0x9b, '\n', '\t'}), "\\x1b\\x9b\n\t|");
  EXPECT_EQ(formatted("%c|", {0}), "\\x00|");
  // A precision counts what is read, a width what is shown.
  EXPECT_EQ(formatted("[%.1s][%8s][%-8s][%3c]", {2, 2, 2, 7}, reader),
            "[\\x1b][ \\x1b[1m][\\x1b[1m ][\\x07]");
  EXPECT_EQ(formatted(R"(\033[1m%s\e[0m)", {2}, reader), "\033[1m\\x1b[1m\033[0m");
}

TEST(FormatText, RefusesWhatItCannotDo) {
  for (const char* format : {"%", "%5", "%n", "%*d", "%1$d", "%ls", "%lc", "%Lf", "%S", "%hhn"})
    EXPECT_TRUE(formatted(format, {1, 2}).starts_with("error: ")) << format;
  EXPECT_EQ(formatted("%d %d", {1}), "error: the format wants more values than there are");
  EXPECT_EQ(formatted("%4097d", {1}), "error: a field is wider than 4096");
  EXPECT_EQ(formatted("%.99999999999999999999d", {1}), "error: a field is wider than 4096");
}

TEST(FormatText, DoesNotGrowWithoutEnd) {
  std::string format;
  std::vector<uint64_t> values;
  for (int i = 0; i < 17; ++i) {
    format += "%4096d";
    values.push_back(1);
  }
  EXPECT_EQ(formatted(format, values), "error: more than 65536 bytes of text");
  EXPECT_EQ(formatted("%.4096f", {std::bit_cast<uint64_t>(1e308)}).size(), 309 + 1 + 4096u);
}

}  // namespace
}  // namespace tracewell::agent
