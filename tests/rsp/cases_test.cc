// Runs tests/rsp/cases/*.txt: `> PARSER TEXT`, then one `< LINE` for each line that describe()
// makes of it. Other lines are for people. TRACEWELL_RENEW=1 writes the answers anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "describe.h"

namespace tracewell::rsp {
namespace {

std::string read_whole(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The file as it would be if all parsers answered as expected.
std::string answered(const std::string& text) {
  std::string out;
  std::string_view left = text;
  while (!left.empty()) {
    const std::string_view line = take_until(left, '\n');
    if (line.starts_with("<")) continue;
    out += std::string(line) + "\n";
    if (!line.starts_with("> ")) continue;
    std::string_view input = line.substr(2);
    const std::string_view parser = take_until(input, ' ');
    for (const std::string& answer : describe(parser, unquote(input))) out += "< " + answer + "\n";
  }
  return out;
}

TEST(Cases, ParsersAnswerAsWritten) {
  const std::filesystem::path folder = TRACEWELL_SOURCE_DIR "/tests/rsp/cases";
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string expected = read_whole(entry.path());
    const std::string actual = answered(expected);
    if (std::getenv("TRACEWELL_RENEW")) std::ofstream(entry.path()) << actual;
    else EXPECT_EQ(expected, actual) << entry.path();
    EXPECT_EQ(actual.find("unknown parser"), std::string::npos) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 6u);
}

}  // namespace
}  // namespace tracewell::rsp
