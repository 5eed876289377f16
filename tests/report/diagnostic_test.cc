// What a template's author gets to read.
#include <gtest/gtest.h>

#include "rendering.h"

namespace tracewell::report {
namespace {

TEST(ReportDiagnostic, NamesThePlaceAndWhatWasExpected) {
  EXPECT_EQ(
      Compiled("# mine\n010 1.0 \"L\" $HD, \\\n\t1 {, \"x\" }\n").all(),
      "t:3:5: error: expected an item, or the missing }, found \",\" (a comma stands behind a "
      "datum to make it a switch, and between cases) [syntax]\n"
      "   1 {, \"x\" }\n"
      "      ^\n");
  EXPECT_EQ(Compiled("010 1.0 \"L\" {{ a = 5 }}").all(),
            "t:1:16: error: expected the $name that the assignment needs, found \"a\" [syntax]\n"
            "  010 1.0 \"L\" {{ a = 5 }}\n"
            "                 ^\n");
  EXPECT_EQ(Compiled("010 1.0 \"L\" G8 U8, 1 { \"a\"").all(),
            "t:1:27: error: expected an item, or the missing }, found the end of the file "
            "[syntax]\n"
            "  010 1.0 \"L\" G8 U8, 1 { \"a\"\n"
            "                            ^\n");
}

TEST(ReportDiagnostic, AHeaderThatEndsLacksItsLabelAndNotItsVersion) {
  EXPECT_EQ(Compiled("02E 1.0\n").all(),
            "t:1:8: error: expected a label in quotes, found the end of the template [syntax]\n"
            "  02E 1.0\n"
            "         ^\n");
}

TEST(ReportDiagnostic, ABackslashInAStringIsToldWhatItIs) {
  EXPECT_EQ(Compiled("010 1.0 \"a\\nb\"\n").all(),
            "t:1:11: warning: this backslash is printed: strings are printed as they stand, and "
            "end at the next quote; \\n (a new line) and \\t (a tab) belong outside of them "
            "[backslash-in-string]\n"
            "  010 1.0 \"a\\nb\"\n"
            "            ^\n");
}

TEST(ReportDiagnostic, AByteOrderMarkIsSkipped) {
  const Compiled compiled("\xef\xbb\xbf" "010 1.0 \"a\" }\n011 1.0 \"b\"\n");
  ASSERT_EQ(compiled.said.size(), 1u);
  EXPECT_EQ(compiled.said[0].place.column, 13u);
  EXPECT_NE(compiled.templates.find(0x0110), nullptr);
  EXPECT_EQ(Compiled("\xef\xbb\xbf# mine\n010 1.0 \"a\"\n").all(), "");
}

TEST(ReportDiagnostic, Utf16IsNamed) {
  for (const std::string& mark : {std::string("\xff\xfe"), std::string("\xfe\xff")}) {
    const Compiled compiled(mark + "0" + '\0' + "1" + '\0');
    ASSERT_EQ(compiled.said.size(), 1u);
    EXPECT_EQ(compiled.said[0].code, "encoding");
    EXPECT_NE(compiled.said[0].text.find("iconv -f UTF-16 -t UTF-8"), std::string::npos);
  }
}

TEST(ReportDiagnostic, LongLinesAreCutAndStrangeBytesShown) {
  const std::string source =
      "010 1.0 \"" + std::string(200, 'x') + "\x1b\" }" + std::string(300, 'y');
  const Compiled compiled(source);
  ASSERT_EQ(compiled.said.size(), 1u);
  const std::string shown = compiled.said[0].show();
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  const size_t line = shown.find('\n') + 1;
  EXPECT_LT(shown.find('\n', line) - line, 200u);
  const size_t caret = shown.find('^') - (shown.find('\n', line) + 1);
  EXPECT_EQ(shown[line + caret], '}');
}

TEST(ReportDiagnostic, NamesOfTheFileAreShownSafely) {
  const Compiled compiled("010 1.0 \"\" a\x1b[1m\n");
  EXPECT_EQ(compiled.all().find('\x1b'), std::string::npos);
  EXPECT_NE(compiled.all().find("a\\x1b[1m"), std::string::npos);
}

TEST(ReportDiagnostic, LinesEndAsTheyDoElsewhere) {
  const Compiled compiled("010 1.0 \"a\" \\\r\n\"b\"\r\n011 1.0 \"c\r\n");
  ASSERT_EQ(compiled.said.size(), 1u);
  EXPECT_EQ(compiled.said[0].place.line, 3u);
  EXPECT_EQ(compiled.said[0].line, "011 1.0 \"c");
  ASSERT_NE(compiled.first(), nullptr);
  EXPECT_EQ(compiled.first()->label, "a");
}

TEST(ReportDiagnostic, TemplatesSayWhatTheyAre) {
  const Compiled compiled("0AB1 3.14 L=INT \"@hidden\"\n0ab 2.0 \"b\"");
  EXPECT_EQ(compiled.all(), "");
  const TemplateInfo* info = compiled.templates.find(0x0ab1);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->label, "@hidden");
  EXPECT_EQ(info->level, Level::Int);
  EXPECT_EQ(info->version_major, 3u);
  EXPECT_EQ(info->version_minor, 14u);
  EXPECT_EQ(info->file, "t");
  EXPECT_EQ(info->place.line, 1u);
  ASSERT_NE(compiled.templates.find(0x0ab0), nullptr);
  EXPECT_EQ(compiled.templates.find(0x0ab0)->level, Level::Kern);
  EXPECT_EQ(compiled.templates.find(0x0123), nullptr);
}

TEST(ReportDiagnostic, FilesAddUp) {
  Templates templates;
  EXPECT_TRUE(templates.add("a", "010 1.0 \"a\" $020").empty());
  EXPECT_TRUE(templates.add("b", "020 1.0 \"\" \"b\"").empty());
  EXPECT_TRUE(templates.link().empty());
  const OwnedEntry owned("8000000001000000");
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(templates, facts, out);
  renderer.render(owned.entry, 4);
  EXPECT_EQ(out.text(), "a b");
  const auto said = templates.add("c", "010 1.0 \"c\"");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].text, "this replaces the template of the same hook in a, line 1");
}

TEST(ReportDiagnostic, LinesBehindTheFirstAreIndented) {
  const Compiled compiled("010 1.0 \"a\" \\n \"b\"");
  const OwnedEntry owned("8000000001000000");
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  renderer.render(owned.entry, 4);
  EXPECT_EQ(out.text(), "a\n    b");
}

}  // namespace
}  // namespace tracewell::report
