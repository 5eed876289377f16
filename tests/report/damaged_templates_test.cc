// Every beginning of every template that there is, and every template without one of its tokens, is
// an error with its place, or a report: never a hang, and never more than an entry is worth.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "rendering.h"
#include "sanitized.h"

namespace tracewell::report {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = TRACEWELL_SOURCE_DIR;

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Those of a file, each with its continuation lines.
std::vector<std::string> templates_of(const std::string& text) {
  std::vector<std::string> out;
  bool goes_on = false;
  for (const std::string_view line : split(text, '\n')) {
    if (!goes_on && (line.empty() || line.starts_with('#'))) continue;
    if (!goes_on) out.emplace_back();
    out.back().append(line).append("\n");
    goes_on = line.ends_with('\\');
  }
  return out;
}

/// Where the token ends that begins at `at`: blanks, a string, a word, \* or \n, or one character.
size_t end_of_token(std::string_view text, size_t at) {
  const auto while_all = [&](auto holds) {
    size_t end = at;
    while (end < text.size() && holds(static_cast<unsigned char>(text[end]))) ++end;
    return end;
  };
  const char first = text[at];
  if (std::isspace(static_cast<unsigned char>(first)) != 0)
    return while_all([](int c) { return std::isspace(c) != 0; });
  const auto in_word = [](int c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  if (in_word(first)) return while_all(in_word);
  if (first == '"' || first == '`') {
    const size_t end = text.find(first, at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::string_view two = text.substr(at, 2);
  return at + (two == "{{" || two == "}}" || two.starts_with('\\') ? two.size() : 1);
}

using tracewell::test::kEach;

class Trial {
 public:
  void all_of(const std::string& source) {
    for (size_t size = 0; size < source.size(); size += kEach) one(source.substr(0, size));
    for (size_t at = 0; at < source.size();) {
      const size_t end = end_of_token(source, at);
      ASSERT_GT(end, at);
      if (tokens_++ % kEach == 0) one(source.substr(0, at) + source.substr(end));
      at = end;
    }
  }

  uint64_t errors = 0, reports = 0;

 private:
  size_t tokens_ = 0;

  void one(const std::string& source) {
    const Compiled compiled(source);
    errors += compiled.errors() != 0;
    for (const Diagnostic& said : compiled.said) {
      EXPECT_FALSE(said.text.empty()) << source;
      EXPECT_GE(said.place.line, 1u) << source;
      EXPECT_GE(said.place.column, 1u) << source;
    }
    const LogFacts facts;
    TextBuffer out;
    Renderer renderer(compiled.templates, facts, out);
    for (const TemplateInfo* info : compiled.templates.list()) {
      if (info->reserved) continue;
      for (const OwnedEntry& owned : entries_) {
        out.clear();
        renderer.render(owned.entry, 0, *info);
        EXPECT_LT(out.size(), 100000u) << source;
        ++reports;
      }
    }
  }

  // In place: an entry points into its own bytes.
  const OwnedEntry entries_[3] = {
      OwnedEntry("80000020010000006d616c6c6f63000000000001100009700000000000000004"
                 "000000000000000a"),
      OwnedEntry("c00000110100002000000000000000117375636365737366756c206d616c6c6f63", 64, true),
      OwnedEntry("010e00010000000500000003ffffffff00000000000000ff", 32),
  };
};

TEST(ReportDamagedTemplates, TheGivenOnes) {
  Trial trial;
  const std::string cases = read_file(kSource / "tests/report/trcfmt-cases.json");
  for (const auto& it : nlohmann::json::parse(cases))
    trial.all_of(it["template"]);
  EXPECT_GT(trial.errors, 1000u / kEach);
  EXPECT_GT(trial.reports, 1500u / kEach);
}

TEST(ReportDamagedTemplates, ThoseOfTheExamples) {
  Trial trial;
  for (const char* path : {"examples/aix/mytrace", "examples/aix/units",
                           "examples/demo/orders.trcfmt", "examples/hooks/shop.trcfmt",
                           "tests/cli/report/steps.trcfmt"}) {
    const std::vector<std::string> all = templates_of(read_file(kSource / path));
    EXPECT_FALSE(all.empty()) << path;
    for (const std::string& source : all) trial.all_of(source);
  }
  EXPECT_GT(trial.errors, 1000u / kEach);
  EXPECT_GT(trial.reports, 1500u / kEach);
}

}  // namespace
}  // namespace tracewell::report
