// Tenet's log and the trace viewer's JSON, where somebody wants them to hang or to fill memory.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/support.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

struct Read {
  uint64_t steps = 0;
  std::vector<std::string> codes;
  uint64_t problems = 0;
};

Read read_all(const std::string& text, std::string_view format) {
  Opened opened(text, format);
  Read read;
  if (!opened.source) {
    read.codes.push_back(opened.error);
    return read;
  }
  Batch batch;
  while (*opened.source->next(batch))
    read.steps += static_cast<uint64_t>(
        std::ranges::count_if(batch.events(), [](const Event& event) {
          return std::holds_alternative<Step>(event.body);
        }));
  for (const Problem& problem : opened.problems->kept()) read.codes.push_back(problem.code);
  read.problems = opened.problems->count();
  return read;
}

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(HostileTenet, LongLinesAreLeftOut) {
  const std::string text = fmt::format("rip=0x1\nrip=0x2{}\nrip=0x3\nrip=0x4\n",
                                       repeated(",mr=0x10:aa", 100000));
  const Read read = read_all(text, "tenet");
  EXPECT_EQ(read.steps, 3u);
  EXPECT_EQ(read.codes, std::vector<std::string>{"long-line"});
}

TEST(HostileTenet, RegistersWithoutAnInstruction) {
  const Read read = read_all(repeated("rax=0x1,rbx=0x2\n", 100000) + "rip=0x1\n", "tenet");
  EXPECT_EQ(read.steps, 1u);
  EXPECT_EQ(read.codes[0], "no-pc");
  EXPECT_EQ(read.problems, 100000u);
}

TEST(HostileTenet, NothingOfALog) {
  EXPECT_EQ(read_all("", "tenet").steps, 0u);
  EXPECT_EQ(read_all("\n\n\r\n", "tenet").steps, 0u);
  EXPECT_EQ(read_all(repeated("=,", 100000), "tenet").steps, 0u);
}

constexpr std::string_view kHead = R"({"arch":"x64","regs":["rax"],"trace":[)";

/// Each of these begins a row everywhere, and no row ends.
TEST(HostileTvt, RowsThatNeverEndTakeNotForEver) {
  for (const std::string_view start : {"{\"id\"", "\n{", "{", "\"", "[", "{\"id\":[\n"}) {
    SCOPED_TRACE(start);
    const Read read = read_all(fmt::format("{}{}", kHead, repeated(start, 1 << 20)), "tvt");
    EXPECT_EQ(read.steps, 0u);
    ASSERT_FALSE(read.codes.empty());
  }
}

TEST(HostileTvt, DeepNesting) {
  const std::string text = fmt::format("{}{{\"ip\":1,\"x\":{}{}}},\n{{\"ip\":2}}]}}", kHead,
                                       repeated("[", 1000), repeated("]", 1000));
  const Read read = read_all(text, "tvt");
  EXPECT_EQ(read.steps, 1u);
  EXPECT_EQ(read.codes, std::vector<std::string>{"bad-row"});
}

TEST(HostileTvt, ManyThreadsAndRegisters) {
  std::string names, values, rows;
  for (int i = 0; i < 1024; ++i) {
    names += fmt::format("{}\"r{}\"", i == 0 ? "" : ",", i);
    values += i == 0 ? "1" : ",1";
  }
  const size_t count = 6000 / tracewell::test::kEach;
  for (size_t i = 0; i < count; ++i)
    rows += fmt::format("{}{{\"ip\":1,\"thread\":{},\"regs\":[{}]}}", i == 0 ? "" : ",\n", i,
                        values);
  const Read read = read_all(
      fmt::format("{{\"arch\":\"x64\",\"regs\":[{}],\"trace\":[{}]}}", names, rows), "tvt");
  EXPECT_EQ(read.steps, count);
  EXPECT_EQ(read.problems, 0u);
}

TEST(HostileTvt, HeadersThatAreNone) {
  for (const std::string_view text :
       {"", "[", "{", "{\"trace\"", "{\"trace\":", "{\"trace\":1}", "{\"regs\":{\"a\":0},", "{]",
        "{\"a\":\"", "{1:2}", "{\"trace\":{}}"})
    EXPECT_EQ(read_all(std::string(text), "tvt").steps, 0u) << text;
  EXPECT_EQ(read_all("{\"trace\":[", "tvt").codes, std::vector<std::string>{"file-cut"});
  EXPECT_EQ(read_all("{\"trace\":[{\"ip\":5}]}", "tvt").steps, 1u);
}

}  // namespace
}  // namespace tracewell::formats::test
