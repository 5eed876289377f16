// What data and templates cannot do: hang, grow without bound, recurse.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rendering.h"

namespace tracewell::report {
namespace {

std::string render_one(const std::string& source, const OwnedEntry& owned) {
  const Compiled compiled(source);
  EXPECT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  renderer.render(owned.entry, 0);
  return std::string(out.text());
}

TEST(ReportLimits, ACountThatReadsNothingEnds) {
  const OwnedEntry owned("8000000801000000000000007fffffff");
  const std::string text = render_one("010 1.0 \"\" LOOP $D1 {\"y\"} \"tail\"", owned);
  EXPECT_EQ(text.substr(0, 3), "yyy");
  EXPECT_EQ(text.substr(text.find('*')), "*** too many rounds for 16 bytes");
  EXPECT_LT(text.size(), 20000u);
}

TEST(ReportLimits, LoopsInLoopsEnd) {
  const OwnedEntry owned("8000000801000000000000007fffffff");
  const std::string text =
      render_one("010 1.0 \"\" LOOP $D1 { LOOP $D1 { LOOP $D1 { LOOP $D1 { \"x\" } } } }", owned);
  EXPECT_LT(text.size(), 20000u);
}

TEST(ReportLimits, TextEnds) {
  const OwnedEntry owned("8000000801000000000000007fffffff");
  const std::string text =
      render_one(fmt::format("010 1.0 \"\" LOOP $D1 {{ \"{}\" }}", std::string(10000, 'x')), owned);
  EXPECT_LT(text.size(), Renderer::kTextMax + 20000);
  EXPECT_TRUE(text.ends_with("*** more than 1048576 bytes of text")) << text.substr(1 << 20);
}

TEST(ReportLimits, CallsThatMultiplyEnd) {
  const OwnedEntry owned("8000000801000000000000007fffffff");
  std::string source = "010 1.0 \"\" $011 $011 $011 $011 $011 $011 $011 $011\n";
  for (int i = 1; i < 9; ++i)
    source += fmt::format("01{} 1.0 \"\" $01{} $01{} $01{} $01{} $01{} $01{} $01{} $01{}\n", i,
                          i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1, i + 1);
  source += "019 1.0 \"\" \"y\"\n";
  const std::string text = render_one(source, owned);
  EXPECT_EQ(text.substr(0, 3), "yyy");
  EXPECT_EQ(text.substr(text.find('*')), "*** too many rounds for 16 bytes");
}

TEST(ReportLimits, ReadingLoopsGoAsFarAsTheDataDo) {
  std::string hex = "c00100000100000000000000000f4240";
  for (int i = 0; i < 65536; ++i) hex += "ab";
  const OwnedEntry owned(hex, 64, true);
  const std::string text = render_one("010 1.0 \"\" G16 LOOP $HL {X0}", owned);
  EXPECT_EQ(text.size(), 65536u * 2);
  EXPECT_EQ(text.find('*'), std::string::npos);
}

TEST(ReportLimits, BlocksNest) {
  const auto nested = [](int depth) {
    std::string source = "010 1.0 \"\" ";
    for (int i = 0; i < depth; ++i) source += "LOOP $D1 { ";
    source += "\"x\" ";
    for (int i = 0; i < depth; ++i) source += "} ";
    return source;
  };
  const OwnedEntry owned("80000008010000000000000000000001");
  EXPECT_EQ(render_one(nested(32), owned), "x");
  const Compiled deep(nested(33));
  ASSERT_EQ(deep.said.size(), 1u);
  EXPECT_EQ(deep.said[0].code, "depth");
  EXPECT_EQ(deep.said[0].text, "blocks nest deeper than 32");
  EXPECT_EQ(Compiled(nested(100000)).errors(), 1u);
}

TEST(ReportLimits, LongChainsAndManyMacros) {
  std::string chain = "010 1.0 \"\" {{ $a = $D1";
  for (int i = 0; i < 50000; ++i) chain += " + $D1";
  EXPECT_EQ(render_one(chain + " }} $a", OwnedEntry("80000008010000000000000000000001")), "C351");
  std::string many = "010 1.0 \"\"";
  for (int i = 0; i < 255; ++i) many += fmt::format(" {{{{ $macro{} }}}}", i);
  EXPECT_EQ(Compiled(many).errors(), 0u);
  const Compiled more(many + " {{ $onemore }}");
  ASSERT_EQ(more.said.size(), 1u);
  EXPECT_EQ(more.said[0].code, "too-many-macros");
}

TEST(ReportLimits, TimersAreBounded) {
  Timers timers;
  for (uint64_t i = 0; i < 200000; ++i) timers.start(i, i * 3, static_cast<int64_t>(i));
  EXPECT_EQ(timers.started(199999, 199999 * 3), 199999);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 200000; ++i) kept += timers.started(i, i * 3).has_value();
  EXPECT_LE(kept, 32768u);
  EXPECT_GT(kept, 30000u);
  EXPECT_EQ(timers.started(1, 2), std::nullopt);
}

TEST(ReportLimits, ManyErrorsAreCounted) {
  std::string source;
  for (int i = 0; i < 3000; ++i) source += "bad\n";
  const Compiled compiled(source);
  EXPECT_EQ(compiled.said.size(), Diagnostics::kKeptMax);
}

}  // namespace
}  // namespace tracewell::report
