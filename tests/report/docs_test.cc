// docs/formats/trcfmt.md: its tables are codes.def and builtins.def, and its examples are true.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rendering.h"

namespace tracewell::report {
namespace {

const std::string kPage = TRACEWELL_SOURCE_DIR "/docs/formats/trcfmt.md";

std::string read_page() {
  std::ifstream file(kPage);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string code_table() {
  std::string text = "| code | reads | prints | as a cast |\n|---|---|---|---|\n";
  const auto row = [&](std::string_view name, CodeShape shape, CodeCast cast,
                       std::string_view reads, std::string_view prints) {
    const char* numbers = shape == CodeShape::Bare ? "" : shape == CodeShape::Bytes ? "m" : "m.n";
    const char* yes = cast == CodeCast::No ? "no" : cast == CodeCast::Yes ? "yes" : "only";
    text += fmt::format("| `{}{}` | {} | {} | {} |\n", name, numbers, reads, prints, yes);
  };
#define CODE(name, shape, cast, widths, base, reads, prints) \
  row(#name, CodeShape::shape, CodeCast::cast, reads, prints);
#include "report/codes.def"
  return text;
}

std::string macro_table() {
  std::string text = "| macro | what it is |\n|---|---|\n";
  const auto row = [&](std::string_view name, std::string_view meaning) {
    text += fmt::format("| `${}` | {} |\n", name, meaning);
  };
#define BUILTIN(name, kind, value, meaning) row(#name, meaning);
#define ACTION(name, meaning) row(#name, meaning);
#include "report/builtins.def"
  return text;
}

void check_table(const std::string& name, const std::string& table) {
  std::string page = read_page();
  const std::string begin = fmt::format("<!-- {} -->\n", name);
  const size_t from = page.find(begin) + begin.size();
  const size_t end = page.find(fmt::format("<!-- end of {} -->\n", name));
  ASSERT_NE(page.find(begin), std::string::npos);
  ASSERT_NE(end, std::string::npos);
  if (std::getenv("TRACEWELL_RENEW") != nullptr) {
    std::ofstream(kPage) << page.replace(from, end - from, table);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), table);
}

TEST(ReportDocs, TablesAreCurrent) {
  check_table("codes", code_table());
  check_table("macros", macro_table());
}

/// The page's first example is a template of that text, and compiles without a warning.
TEST(ReportDocs, TheFirstExampleHolds) {
  const std::string page = read_page();
  const size_t begin = page.find("    # What my program's hook");
  const size_t end = page.find("\nmakes of three entries");
  ASSERT_NE(end, std::string::npos);
  std::string source;
  for (size_t at = begin; at < end;) {
    const size_t line_end = page.find('\n', at);
    if (line_end > at + 4) source += page.substr(at + 4, line_end + 1 - at - 4);
    at = line_end + 1;
  }
  const Compiled compiled(source);
  EXPECT_EQ(compiled.all(), "");
  const OwnedEntry owned("8000001801000001000000011000098400000000000000050000000000000014");
  const LogFacts facts;
  TextBuffer out;
  Renderer renderer(compiled.templates, facts, out);
  renderer.render(owned.entry, 0);
  EXPECT_EQ(out.text(), "MyCustomHook Address=0x110000984 Array Index=5 Value=20");
  EXPECT_NE(page.find(std::string("    ") + std::string(out.text()) + "\n"), std::string::npos);
}

/// Every warning and its meaning stand on the page.
TEST(ReportDocs, EveryWarningIsExplained) {
  const std::string page = read_page();
  for (const char* path :
       {"compile/compile.cc", "compile/compile_datum.cc", "compile/compile_switch.cc",
        "compile/grammar.cc", "templates/templates.cc"}) {
    std::ifstream file(std::string(TRACEWELL_SOURCE_DIR "/src/report/") + path);
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = source.find("warning("); at != std::string::npos;
         at = source.find("warning(", at + 1)) {
      const size_t open = source.find('"', at) + 1;
      const std::string name = source.substr(open, source.find('"', open) - open);
      EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace tracewell::report
