// Runs the cases beside this file: tests/formats/<format>/<case>/. See README.md.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = fs::path(TRACEWELL_SOURCE_DIR) / "tests" / "formats";

std::string from_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text[++i] == 'n') {
      out += '\n';
    } else if (text[i] == 'x') {
      out += text_from_hex(text.substr(i + 1, 2)).value();
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string bytes_of_hex_file(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('"')) {
      out += from_escapes(std::string_view(line).substr(1, line.rfind('"') - 1));
      continue;
    }
    std::string digits;
    for (const char c : line.substr(0, line.find('#')))
      if (c != ' ') digits += c;
    auto bytes = text_from_hex(digits);
    EXPECT_TRUE(bytes) << line;
    out += bytes.value_or("");
  }
  return out;
}

std::string input_of(const fs::path& folder) {
  if (fs::exists(folder / "input.hex")) return bytes_of_hex_file(read_file(folder / "input.hex"));
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().stem() == "input") return read_file(entry.path());
  ADD_FAILURE() << "there is no input";
  return "";
}

void expect_file(const fs::path& path, const std::string& got) {
  if (std::getenv("TRACEWELL_RENEW")) {
    if (got.empty())
      fs::remove(path);
    else
      write_file(path, got);
  }
  EXPECT_EQ(got, read_file(path)) << path;
}

std::string problem_text(const Opened& opened) {
  if (!opened.source) {
    std::string error = opened.error;  // begins with the temporary file's name
    return "error: " + error.substr(error.find(": ") + 2) + "\n";
  }
  std::string out;
  for (const Problem& problem : opened.problems->kept())
    out += fmt::format("{} {} {}: {}\n", severity_name(problem.severity), problem.code,
                       problem.offset ? fmt::format("{:#x}", *problem.offset) : "-", problem.text);
  return out;
}

/// Text as it is, binary in the form of input.hex: what is a line of plain text stays one.
std::string golden_of(const std::string& bytes, bool binary) {
  if (!binary) return bytes;
  std::string out;
  if (bytes.starts_with("error: ")) return out.append(bytes).append("\n");
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = bytes.find('\n', at);
    const std::string line = end == std::string::npos ? "" : bytes.substr(at, end - at);
    const bool plain = std::all_of(line.begin(), line.end(), [](char c) {
      return c >= ' ' && c <= '~';
    });
    if (plain && !line.empty()) {
      out += '"';
      for (const char c : line) {
        if (c == '\\')
          out += "\\x5c";
        else
          out += c;
      }
      out += "\\n\"\n";
      at = end + 1;
    } else {
      out += to_hex(std::string_view(bytes).substr(at, 8)) + '\n';
      at += 8;
    }
  }
  return out;
}

/// expect.<format> for each format that has one there, and what its sink says of losses.
void expect_conversions(const fs::path& folder, const std::string& input) {
  for (const Format* format : formats()) {
    const fs::path path = folder / ("expect." + std::string(format->name));
    if (format->name == "jsonl" || !fs::exists(path)) continue;
    std::string told;
    expect_file(path, golden_of(converted(input, format->name, &told), format->binary));
    expect_file(path.string() + ".told", told);
  }
}

void run_case(const fs::path& folder) {
  SCOPED_TRACE(folder.string());
  const std::string input = input_of(folder);
  Opened opened(input);
  std::string jsonl;
  if (opened.source) jsonl = written(*opened.source, "jsonl");
  const std::string problems = problem_text(opened);
  expect_file(folder / "problems.txt", problems);
  expect_file(folder / "expect.jsonl", without_path(jsonl));
  expect_conversions(folder, input);
  if (!opened.source) return;

  // What was read once reads the same again.
  EXPECT_EQ(without_path(converted(jsonl, "jsonl")), without_path(jsonl));
  const Format* format = find_format(folder.parent_path().filename().string());
  if (!format->create || !format->open || problems.find("damage") != std::string::npos) return;
  const std::string again = converted(input, format->name);
  EXPECT_EQ(without_path(converted(jsonl, format->name)), without_path(again));
  if (!format->binary) return;
  // Odd files are set right on the way; sound ones stay what they are.
  const bool odd = problems.find("warning") != std::string::npos;
  EXPECT_TRUE(odd || again == input);
}

TEST(FormatCases, AllFolders) {
  size_t count = 0;
  for (const Format* format : formats()) {
    const fs::path root = kRoot / format->name;
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::directory_iterator(root)) {
      if (!entry.is_directory()) continue;
      run_case(entry.path());
      ++count;
    }
  }
  EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace tracewell::formats::test
