// How users write hooks, groups of them, and sizes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "hooks/words/hook_groups.h"
#include "hooks/words/hook_ids.h"
#include "hooks/words/sizes.h"

namespace tracewell::hooks {
namespace {

using Ids = std::vector<uint16_t>;

TEST(HookIds, AreSpelledAsOnAix) {
  EXPECT_EQ(*hook_ids("1234, 567"), (Ids{0x1234, 0x5670}));
  const auto sixteen = hook_ids("0a");
  ASSERT_TRUE(sixteen.ok());
  EXPECT_EQ(sixteen->size(), 16u);
  EXPECT_EQ(sixteen->front(), 0x0a00);
  EXPECT_EQ(sixteen->back(), 0x0af0);
  for (const char* text : {"", " ,", "1", "12345", "12g", "0x12"})
    EXPECT_FALSE(hook_ids(text).ok()) << text;
}

TEST(Sizes, HaveUnits) {
  EXPECT_EQ(size_in_bytes("1000"), 1000u);
  EXPECT_EQ(size_in_bytes("64k"), 65536u);
  EXPECT_EQ(size_in_bytes("2M"), uint64_t{2} << 20);
  EXPECT_EQ(size_in_bytes("17179869183g"), uint64_t{17179869183} << 30);
  for (const char* text : {"", "k", "1t", "17179869184g"})
    EXPECT_EQ(size_in_bytes(text), std::nullopt) << text;
  for (const char* text : {"1000", "64k", "3m", "1g"})
    EXPECT_EQ(size_text(*size_in_bytes(text)), text);
  EXPECT_TRUE(size_within(size_text(kBufferLimits.least), "-T", kBufferLimits).ok());
  EXPECT_FALSE(size_within("1", "-T", kBufferLimits).ok());
  EXPECT_FALSE(size_within("1000g", "-T", kBufferLimits).ok());
}

TEST(HookGroups, AreLinesThatStay) {
  const std::string text = "# mine\n\nnet - the network (normal) \"01,0234\"\n";
  const auto lines = parse_hook_groups(text, "evgrp");
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ(hook_groups_text(*lines), text);
  const HookGroup group = std::get<HookGroup>(lines->back());
  EXPECT_EQ(hooks_of_groups({group}, "net")->size(), 17u);
  EXPECT_FALSE(hooks_of_groups({group}, "net,file").ok());
  const auto wrong = parse_hook_groups("# mine\nnet\n", "evgrp");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("evgrp:2"), std::string::npos);
}

}  // namespace
}  // namespace tracewell::hooks
