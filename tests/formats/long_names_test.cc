// Names that a format repeats in each line: what is longer than any file's is cut, once told; and
// so are stacks of many, and the text of all of them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/text.h"
#include "formats/steps/module_map.h"
#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

constexpr int kCalls = 100;

/// Calls within a module of that name, each of the next instruction but one: a stack of kCalls.
std::string calls_in(const std::string& name) {
  std::string out = fmt::format(
      R"({{"catalog":{{"machine":"x86-64","modules":[{{"path":"/lib/{}","start":"0x1000",)"
      R"("size":65536}},{{"path":"/lib/short.so","start":"0x100000","size":4096}}]}}}})"
      "\n",
      name);
  for (int i = 0; i < kCalls; ++i)
    out += fmt::format(R"({{"kind":"step","tid":1,"pc":"{:#x}","opcode":"e80b000000"}})"
                       "\n",
                       0x1000 + i * 16);
  return out;
}

/// Names of the module in the text, and what else a line of so many stacks has.
size_t most_bytes(size_t names) { return names * (kShortNameBytesMax + 32); }

TEST(LongModuleNames, AreCutInEachFrame) {
  std::string told;
  const std::string text = converted(calls_in(std::string(100'000, 'n')), "folded", &told);
  constexpr size_t kFrames = 16;  // that fit into 16 KiB; all that they call is one more
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(text, '\n')), kFrames + 1);
  EXPECT_LE(text.size(), most_bytes((kFrames + 1) * (kFrames + 2) / 2));
  EXPECT_TRUE(text.ends_with(fmt::format(";… {}\n", kCalls - kFrames)));
  EXPECT_NE(told.find("left out: 1 stack is cut behind 16 KiB of names"), std::string::npos)
      << told;
  EXPECT_NE(text.find(';' + std::string(kShortNameBytesMax, 'n') + "…+0x0 1\n"), std::string::npos);
  EXPECT_NE(told.find("left out: 1 module's name is cut after 1024 bytes\n"), std::string::npos)
      << told;
}

/// The counts of all lines together, and how many of the lines have a frame "…".
struct Lines {
  uint64_t steps = 0, shortened = 0;
};
Lines lines_in(std::string_view text) {
  Lines out;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    out.steps += parse_number(line.substr(line.rfind(' ') + 1)).value_or(0);
    out.shortened += line.find(";…;") != line.npos ? 1 : 0;
  }
  return out;
}

// Each line within its bound, but a megabyte of steps made a hundred times as much of them.
TEST(DeepStacks, HaveATextOfBoundedSize) {
  constexpr uint64_t kLeaves = 6000;
  std::string trace = calls_in(std::string(140, 'n'));
  for (uint64_t i = 0; i < kLeaves; ++i)
    trace += fmt::format(R"({{"kind":"step","tid":1,"pc":"{:#x}","opcode":"e800000000"}})"
                         "\n"
                         R"({{"kind":"step","tid":1,"pc":"{:#x}","opcode":"c3"}})"
                         "\n",
                         0x1000 + kCalls * 16 + i * 5, 0x200000 + i);
  constexpr uint64_t kSteps = kCalls + 2 * kLeaves, kMost = (64 << 20) + 64 * kSteps;
  std::string told;
  const std::string text = converted(trace, "folded", &told);
  EXPECT_LE(text.size(), kMost + kLeaves * 64);
  EXPECT_GT(text.size(), kMost - (1 << 20)) << "there is room for more";
  const Lines lines = lines_in(text);
  EXPECT_EQ(lines.steps, kSteps);
  EXPECT_GT(lines.shortened, kLeaves / 10);
  EXPECT_TRUE(text.ends_with(fmt::format("\nthread 1;…;{:#x} 1\n", 0x200000 + kLeaves - 1)))
      << text.substr(text.size() - 100);
  EXPECT_NE(told.find(fmt::format("left out: {} stacks are without the frames in the middle",
                                  lines.shortened)),
            std::string::npos)
      << told;
}

TEST(LongModuleNames, AreCutInEachLine) {
  std::string told;
  const std::string text = converted(calls_in(std::string(100'000, 'n')), "modoff", &told);
  EXPECT_EQ(std::ranges::count(text, '\n'), kCalls);
  EXPECT_LE(text.size(), most_bytes(kCalls));
  EXPECT_TRUE(text.starts_with(fmt::format("{}…+0\n", std::string(kShortNameBytesMax, 'n'))));
  EXPECT_NE(told.find("left out: 1 module's name is cut after 1024 bytes\n"), std::string::npos)
      << told;
}

TEST(LongModuleNames, ThatFilesCanHaveStay) {
  std::string told;
  const std::string name(kShortNameBytesMax, 'n');
  const std::string text = converted(calls_in(name), "modoff", &told);
  EXPECT_TRUE(text.starts_with(name + "+0\n"));
  EXPECT_EQ(told.find("cut after"), std::string::npos) << told;
}

TEST(LongModuleNames, AreCutBetweenCharacters) {
  // The last one that fits would be cut after its first byte, or its second.
  for (const std::string before : {"", "a", "ab"}) {
    std::string name = before;
    while (name.size() <= 2 * kShortNameBytesMax) name += "€";
    const std::string cut = ModuleMap::short_name({name, 0, 0, 0, {}});
    EXPECT_EQ(cut.find('\\'), std::string::npos) << cut.substr(cut.size() - 16);
    EXPECT_TRUE(cut.ends_with("€…"));
    EXPECT_GT(cut.size(), kShortNameBytesMax - 3);
  }
  // No text at all: each byte by itself.
  const std::string cut = ModuleMap::short_name({std::string(5000, '\x80'), 0, 0, 0, {}});
  EXPECT_LE(cut.size(), 4 * kShortNameBytesMax + 3);
  EXPECT_TRUE(cut.ends_with("\\x80…"));
}

}  // namespace
}  // namespace tracewell::formats::test
