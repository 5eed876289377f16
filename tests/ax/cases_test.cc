// Runs every case of tests/ax/cases/*.txt; case_reader.h says what these look like.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ax/disassemble.h"
#include "case_reader.h"

namespace tracewell::ax {
namespace {

std::string listing(Code code) {
  std::string all;
  Instruction instruction;
  for (size_t at = 0; decode(code, at, instruction) == Fault::None; at += instruction.size) {
    char line[256];
    disassemble(instruction, line, sizeof line);
    all += all.empty() ? line : fmt::format("; {}", line);
  }
  return all;
}

void check_verdict(const Case& it) {
  const VerifyResult verdict = verify(it.code, it.purpose);
  char text[128];
  const size_t length = describe(verdict, text, sizeof text);
  EXPECT_EQ(length, std::string(text).size());
  EXPECT_EQ(text, it.refused.empty() ? "no error" : it.refused);
  EXPECT_EQ(verdict.ok(), it.refused.empty());
}

void check_run(Case it) {
  const Outcome outcome = run(it.code, it.host);
  EXPECT_EQ(fault_text(outcome.fault), it.fault.value_or("no error"));
  EXPECT_EQ(it.host.log, it.log);
  if (!it.value) return;
  EXPECT_EQ(outcome.has_value, *it.value != "none");
  if (outcome.has_value) {
    EXPECT_EQ(outcome.value, number(*it.value));
  }
}

TEST(AxCases, AllHold) {
  const std::vector<Case> cases = read_cases();
  EXPECT_GT(cases.size(), 100u);
  for (const Case& it : cases) {
    SCOPED_TRACE(it.where + ": " + it.name);
    check_verdict(it);
    EXPECT_TRUE(it.value || it.fault || !it.refused.empty()) << "the case expects nothing";
    if (it.value || it.fault) check_run(it);
    if (it.text) {
      EXPECT_EQ(listing(it.code), *it.text);
    }
  }
}

TEST(AxCases, CoverEveryOpcode) {
  std::set<std::string> accepted, refused;
  for (const Case& it : read_cases()) {
    Instruction instruction;
    for (size_t at = 0; decode(it.code, at, instruction) == Fault::None; at += instruction.size)
      (it.refused.empty() ? accepted : refused).insert(instruction.info->name);
  }
  for (const OpcodeInfo* info = opcodes_begin(); info != opcodes_end(); ++info) {
    const auto& where = info->group == Group::Float ? refused : accepted;
    EXPECT_TRUE(where.contains(info->name)) << info->name << " has no case";
  }
}

}  // namespace
}  // namespace tracewell::ax
