// Numbers from outside that would be too much.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/support.h"

namespace tracewell::formats::test {
namespace {

TEST(JsonlLimits, ALayoutThatOverflowsIsRefused) {
  // 65537 registers of 65536 bytes: offsets of 32 bits would wrap into the block.
  std::string catalog = R"({"catalog":{"registers":[)";
  for (int i = 0; i <= 65536; ++i)
    catalog += fmt::format(R"({}{{"name":"r{}","size":65536}})", i == 0 ? "" : ",", i);
  catalog += "]}}\n";
  ProblemLog problems;
  auto read = catalog_from_json(catalog, problems);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->registers.empty());
  EXPECT_FALSE(problems.empty());
}

TEST(JsonlLimits, ALargeBlockIsNotMadeForASmallLine) {
  Opened opened(
      "{\"catalog\":{\"register_block_bytes\":4000000000,\"registers\":[{\"name\":\"a\",\"size\":4}"
      "]}}\n{\"kind\":\"frame\",\"registers\":{\"a\":\"0x1\"}}\n");
  ASSERT_TRUE(opened.source);
  Batch batch;
  EXPECT_FALSE(*opened.source->next(batch));
  EXPECT_EQ(opened.problems->count(Problem::Severity::Damage), 1u);
}

TEST(JsonlLimits, RegistersOfAnySizeAndBothOrders) {
  for (const char* endian : {"little", "big"}) {
    const std::string catalog = fmt::format(
        R"({{"catalog":{{"endian":"{}","registers":[{{"name":"w","size":10}}]}}}})", endian);
    for (const char* value : {"0x0", "0x1", "0x123456789abcdef01234"}) {
      const std::string event =
          fmt::format(R"({{"kind":"frame","registers":{{"w":"{}"}}}})", value);
      EXPECT_NE(converted(catalog + "\n" + event, "jsonl").find(value), std::string::npos);
    }
    for (const char* value : {"0x1123456789abcdef01234", "0x", "12", "0x1g", ""}) {
      const std::string event =
          fmt::format(R"({{"kind":"frame","registers":{{"w":"{}"}}}})", value);
      Opened opened(catalog + "\n" + event);
      Batch batch;
      EXPECT_FALSE(*opened.source->next(batch)) << value;
    }
  }
}

}  // namespace
}  // namespace tracewell::formats::test
