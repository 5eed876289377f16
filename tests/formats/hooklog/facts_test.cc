// What the metadata of a log of trace hooks says: its first setting, its last, none.
#include <gtest/gtest.h>

#include "formats/hooklog/metadata.h"

namespace tracewell::formats {
namespace {

constexpr std::string_view kMetadata =
    "/* CTF 1.8 */\n\nenv {\n  tracer_name = \"tracewell\";\n  component = \"server.net\";\n};\n\n"
    "clock {\n  name = tsc;\n};\n";

TEST(HooklogFacts, AreThoseOfTheBlock) {
  EXPECT_EQ(read_hooklog_fact(kMetadata, "tracer_name"), "tracewell");
  EXPECT_EQ(read_hooklog_fact(kMetadata, "component"), "server.net");
  EXPECT_EQ(read_hooklog_fact(kMetadata, "name"), std::nullopt);
  EXPECT_EQ(read_hooklog_fact(kMetadata, "mode"), std::nullopt);
}

TEST(HooklogFacts, HaveQuotesAndBackslashes) {
  const std::string text =
      "/* CTF 1.8 */\n\nenv {\n  message = \"\\\"a\\\"; \\\\b\\n\\\\\";\n  plain = 7;\n};\n";
  EXPECT_EQ(read_hooklog_fact(text, "message"), "\"a\"; \\b\\n\\");
  EXPECT_EQ(read_hooklog_fact(text, "plain"), "7");
}

TEST(HooklogFacts, AreNotGuessedFromABlockThatIsCut) {
  const std::string_view cut = kMetadata.substr(0, kMetadata.find("\n};"));
  EXPECT_EQ(read_hooklog_fact(cut, "component"), std::nullopt);
  EXPECT_EQ(read_hooklog_fact("", "component"), std::nullopt);
}

}  // namespace
}  // namespace tracewell::formats
