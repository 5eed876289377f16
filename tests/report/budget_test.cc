// What an event may cost, whatever templates and data say.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rendering.h"

namespace tracewell::report {
namespace {

constexpr const char* kEntry = "8000000801000000000000007fffffff";

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

struct Rendered {
  Outcome outcome = Outcome::Printed;
  std::string text;
};

Rendered render_with(const std::string& source, const OwnedEntry& owned, Renderer::Stop stop = {}) {
  const Compiled compiled(source);
  EXPECT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out, std::move(stop));
  const Outcome outcome = renderer.render(owned.entry, 0);
  return {outcome, std::string(out.text())};
}

// Within the bound of rounds, but a trace of some kilobytes took hours of such events.
TEST(ReportBudget, LongRoundsEnd) {
  const std::string source = fmt::format(
      "010 1.0 \"x\" {{{{ $n = 16000 }}}} LOOP $n {{ {} }} \"tail\"", repeated("G0 ", 30000));
  EXPECT_EQ(render_with(source, OwnedEntry(kEntry)).text,
            "x *** too many instructions for 16 bytes");
}

TEST(ReportBudget, LongCalledTemplatesEnd) {
  const std::string source =
      fmt::format("010 1.0 \"x\" {{{{ $n = 16000 }}}} LOOP $n {{ $011 }}\n011 1.0 \"\" {}\n",
                  repeated("G0 ", 30000));
  EXPECT_EQ(render_with(source, OwnedEntry(kEntry)).text,
            "x *** too many instructions for 16 bytes");
}

// Each event within its bound, but a trace of a megabyte took minutes of such events. When what all
// have in common is used up, each still has its own share.
TEST(ReportBudget, ManyEventsHaveACommonOne) {
  const std::string source =
      fmt::format("010 1.0 \"x\" {{{{ $n = 16000 }}}} LOOP $n {{ {} }} \"tail\"\n"
                  "011 1.0 \"y\" {{{{ $n = 10 }}}} LOOP $n {{ {} }} \"tail\"",
                  repeated("G0 ", 61), repeated("G0 ", 60));
  const Compiled compiled(source);
  ASSERT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out, {}, 100'000'000);
  const OwnedEntry costly(kEntry), cheap("8000000801100000000000007fffffff");
  const auto text_of_one = [&](const Entry& entry) {
    const size_t before = out.text().size();
    renderer.render(entry, 0);
    return std::string(out.text().substr(before));
  };
  EXPECT_EQ(text_of_one(costly.entry), "x tail");
  size_t whole = 1;
  while (whole < 300 && text_of_one(costly.entry) == "x tail") ++whole;
  EXPECT_GT(whole, 90u);
  EXPECT_LT(whole, 130u);
  EXPECT_EQ(text_of_one(costly.entry),
            "x *** the instruction limit for all events together is used up (--template-work)");
  EXPECT_EQ(text_of_one(cheap.entry), "y tail");
}

size_t text_of(const std::string& source, const OwnedEntry& owned, int events, uint32_t indent,
               std::string& last) {
  const Compiled compiled(source);
  EXPECT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  size_t bytes = 0;
  for (int i = 0; i < events; ++i) {
    out.clear();
    renderer.render(owned.entry, indent);
    bytes += out.size();
  }
  last = out.text();
  return bytes;
}

// Each event within its bound, but some hundred kilobytes of them became gigabytes of blanks.
TEST(ReportBudget, ManyEventsHaveACommonTextToo) {
  const OwnedEntry owned(kEntry);
  constexpr size_t kCommonBytes = Renderer::kCommonWork / 4;
  std::string last;
  // What is printed once, in any number of events.
  text_of("010 1.0 \"x\" " + repeated("\\n \"B\" ", 60) + "\\n \"tail\"", owned, 20000, 60, last);
  EXPECT_TRUE(last.ends_with("tail")) << last;
  for (const uint32_t indent : {0u, 60u}) {
    const std::string text = indent == 0 ? repeated("B", 60) : "B";
    const std::string source = fmt::format(
        "010 1.0 \"x\" {{{{ $n = 1000000 }}}} LOOP $n {{ \\n \"{}\" }}", text);
    const size_t bytes = text_of(source, owned, 1000, indent, last);
    EXPECT_GT(bytes, kCommonBytes / 4);
    EXPECT_LT(bytes, kCommonBytes + 1000 * 10000);
    EXPECT_TRUE(last.ends_with(" for all events together is used up (--template-work)"))
        << last.substr(last.size() - 200);
  }
}

// A megabyte of data could be printed 128 times between two looks at what an event has printed.
TEST(ReportBudget, TextIsLookedAtBehindEachItem) {
  const OwnedEntry owned("c00100000100000000000000000f4240" + repeated("6162", 32000), 64, true);
  const std::string printed =
      render_with("010 1.0 \"\" " + repeated("G16 A64000 ", 100), owned).text;
  EXPECT_LT(printed.size(), Renderer::kTextMax + 70'000);
}

// Neither loops nor calls: all of it is run, however long it is.
TEST(ReportBudget, WhatRunsOnceIsRun) {
  const std::string source =
      fmt::format("010 1.0 \"x\" {} \"tail\"", repeated("G0 ", 100000));
  EXPECT_EQ(render_with(source, OwnedEntry(kEntry)).text, "x tail");
}

/// How many of `events` events of the template run to its "tail", without instructions in common.
size_t whole_events(const std::string& source, size_t events) {
  const Compiled compiled(source);
  EXPECT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out, {}, 0);
  const OwnedEntry owned("8000000801000000");
  size_t whole = 0;
  for (size_t i = 0; i < events; ++i) {
    const size_t before = out.text().size();
    renderer.render(owned.entry, 0);
    whole += out.text().substr(before) == "x tail" ? 1 : 0;
  }
  return whole;
}

// ... and in each event: what events have in common may be used up.
TEST(ReportBudget, WhatRunsOnceIsRunInAllEvents) {
  EXPECT_EQ(whole_events("010 1.0 \"x\" " + repeated("G0 ", 1000) + "\"tail\"", 500), 500u);
}

// A longer one would cost a small trace too much time.
TEST(ReportBudget, WhatRunsOnceHasASizeInAllEvents) {
  const std::string source = "010 1.0 \"x\" " + repeated("G0 ", 2000) + "\"tail\"";
  EXPECT_EQ(whole_events(source, 10), 0u);
}

// Those that fail, and say so, take several times as long as others.
TEST(ReportBudget, FailuresCostMore) {
  EXPECT_EQ(whole_events("010 1.0 \"x\" {{ $a = 1 }} " + repeated("{{ $a = 2 }} ", 500) +
                             "\"tail\"", 10), 10u);
  const std::string failing = "010 1.0 \"x\" {{ $a = 0 }} " + repeated("{{ $b = 1 / $a }} ", 300);
  const Compiled compiled(failing);
  ASSERT_EQ(compiled.errors(), 0u) << compiled.all();
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out, {}, 0);
  renderer.render(OwnedEntry("8000000801000000").entry, 0);
  EXPECT_LT(std::ranges::count(out.text(), '*'), 3 * 200);
}

// A template may print, or search, all bytes of an entry again and again.
TEST(ReportBudget, LongTextsAreCounted) {
  const std::string hex = "c00100000100000000000000000f4240" + repeated("6162", 32000);
  const OwnedEntry owned(hex, 64, true);
  const std::string printed =
      render_with("010 1.0 \"\" " + repeated("G16 A64000 ", 3000), owned).text;
  EXPECT_LT(printed.size(), 16u << 20);
  EXPECT_TRUE(printed.ends_with("*** more than 1048576 bytes of text"));
  const std::string searched =
      render_with("010 1.0 \"\" {{ $n = 300000 }} LOOP $n { G16 A64000, \"b\" \"c\" }", owned).text;
  EXPECT_EQ(searched, "*** too many instructions for 64016 bytes");
}

// Conforming loops over the data have far more than they need.
TEST(ReportBudget, LoopsOverTheDataGoToTheirEnd) {
  const std::string hex = "c00100000100000000000000000f4240" + repeated("0a", 60000);
  const std::string source =
      "010 1.0 \"\" G16 LOOP $HL { {{ $a = 1 }} {{ $b = $a + 2 * 3 }} {{ $c = $b - $a }} X1, 0A "
      "\"\", \\* \"no\" BITFLAGS $c, 1 \"\", 2 \"\", 4 \"\" }";
  const Rendered rendered = render_with(source, OwnedEntry(hex, 64, true));
  EXPECT_EQ(rendered.text.find("***"), std::string::npos) << rendered.text.substr(0, 200);
}

TEST(ReportBudget, NobodyWaits) {
  const std::string source = "010 1.0 \"x\" {{ $n = 16000 }} LOOP $n { G0 }";
  int asked = 0;
  const Rendered waited = render_with(source, OwnedEntry(kEntry), [&] {
    ++asked;
    return false;
  });
  EXPECT_EQ(waited.text, "x");
  EXPECT_GT(asked, 100);
  const Rendered left = render_with(source, OwnedEntry(kEntry), [] { return true; });
  EXPECT_EQ(left.outcome, Outcome::Skipped);
  EXPECT_EQ(left.text, "");
}

size_t kept_bytes(const std::vector<Diagnostic>& said) {
  size_t bytes = 0;
  for (const Diagnostic& one : said) bytes += one.line.size() + one.file.size() + one.text.size();
  return bytes;
}

// Each warning kept its whole line, which may be all of a template: gigabytes.
TEST(ReportBudget, WarningsKeepWhatIsShownOfALongLine) {
  const Compiled words("010 1.0 \"x\" " + repeated("zz ", 30000));
  ASSERT_EQ(words.said.size(), Diagnostics::kKeptMax);
  EXPECT_LT(kept_bytes(words.said), 500 * Diagnostics::kKeptMax);
  const std::string shown = words.said[500].show();
  EXPECT_NE(shown.find(fmt::format("\n  {}{}\n  {:>91}\n", repeated("zz ", 30),
                                   repeated("zz ", 20), "^")),
            std::string::npos)
      << shown;
  const Compiled calls("010 1.0 \"x\" " + repeated("$011 ", 5000));
  ASSERT_EQ(calls.said.size(), Diagnostics::kKeptMax);
  EXPECT_LT(kept_bytes(calls.said), 500 * Diagnostics::kKeptMax);
}

TEST(ReportBudget, TemplatesAndTheirFilesHaveASize) {
  const std::string small = "011 1.0 \"small\"\n";
  const Compiled large("010 1.0 \"x\" \\\n" + repeated("G0 G0 G0 \\\n", 100000) + "\"y\"\n" +
                       small);
  ASSERT_EQ(large.said.size(), 1u);
  EXPECT_EQ(large.said[0].code, "size");
  EXPECT_EQ(large.said[0].place.line, 1u);
  ASSERT_NE(large.first(), nullptr);
  EXPECT_EQ(large.first()->label, "small");
  // Many small ones may be as long.
  const Compiled many(repeated("# a comment that is not read\n" + small, 50000));
  EXPECT_EQ(many.errors(), 0u);
  const Compiled file(repeated(small, 300000));
  ASSERT_EQ(file.said.size(), 1u);
  EXPECT_EQ(file.said[0].code, "size");
  EXPECT_EQ(file.first(), nullptr);
}

}  // namespace
}  // namespace tracewell::report
