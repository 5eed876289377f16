// Names that a format repeats in each line: what is longer than any file's is cut, once told; and
// so are stacks of many.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/module_map.h"
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

TEST(LongModuleNames, AreCutInEachLine) {
  std::string told;
  const std::string text = converted(calls_in(std::string(100'000, 'n')), "modoff", &told);
  EXPECT_EQ(std::ranges::count(text, '\n'), kCalls);
  EXPECT_LE(text.size(), most_bytes(kCalls));
  EXPECT_TRUE(text.starts_with(std::string(kShortNameBytesMax, 'n') + "…+0\n"));
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
