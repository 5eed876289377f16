// The opcode table in docs/protocol/agent-expressions.md is the one of src/ax/opcodes.def.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracewell::ax {
namespace {

const std::string kPage = TRACEWELL_SOURCE_DIR "/docs/protocol/agent-expressions.md";
const std::string kBegin = "<!-- opcodes -->\n";
const std::string kEnd = "<!-- end of opcodes -->\n";

/// A bar ends a cell of a Markdown table even inside code.
std::string cell(std::string_view text, bool code) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result.empty() || !code ? result : "`" + result + "`";
}

std::string table() {
  std::string text = "| code | name | operands | stack | meaning |\n|---|---|---|---|---|\n";
  const auto row = [&](unsigned code, const char* name, const char* operands, const char* stack,
                       const std::string& meaning) {
    text += fmt::format("| {:02x} | `{}` | {} | {} | {} |\n", code, name, operands,
                        cell(stack, true), cell(meaning, false));
  };
#define OPCODE(name, code, bytes, pops, pushes, group, operands, stack, meaning) \
  row(code, #name, operands, stack, meaning);
#define FLOAT_OPCODE(name, code, bytes, pops, pushes, group, operands, stack, meaning) \
  row(code, #name, operands, stack, meaning "; refused");
#include "ax/opcodes.def"
  return text;
}

TEST(AxDocs, OpcodeTableIsCurrent) {
  std::ifstream file(kPage);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + kBegin.size();
  if (std::getenv("TRACEWELL_RENEW") != nullptr) {
    page.replace(from, end - from, table());
    std::ofstream(kPage) << page;
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), table());
}

}  // namespace
}  // namespace tracewell::ax
