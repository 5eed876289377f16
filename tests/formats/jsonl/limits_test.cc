// Numbers from outside that would be too much.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/support.h"
#include "little_memory.h"

namespace tracewell::formats::test {
namespace {

/// Of one event, and that is left out.
bool is_lost(const Batch& batch) {
  if (batch.size() != 1) return false;
  const auto* lost = std::get_if<Lost>(&batch.events()[0].body);
  return lost != nullptr && lost->count == 1;
}

TEST(JsonlLimits, OfTooManyRegistersTheFirstOnesStay) {
  // 65537 registers of 65536 bytes: offsets of 32 bits would wrap into the block.
  std::string catalog = R"({"catalog":{"registers":[)";
  for (int i = 0; i <= 65536; ++i)
    catalog += fmt::format(R"({}{{"name":"r{}","size":65536}})", i == 0 ? "" : ",", i);
  catalog += "]}}\n";
  ProblemLog problems;
  auto read = catalog_from_json(catalog, problems);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->registers.registers.size(), 2u);
  EXPECT_EQ(read->registers.registers[1].offset, 65536u);
  EXPECT_EQ(read->registers.size_bytes, 131072u);
  ASSERT_EQ(problems.count(), 2u);  // the other one: register 65536 has no number
  EXPECT_EQ(problems.kept()[1].offset, 0u);
  EXPECT_NE(problems.kept()[1].text.find("\"r2\" and those behind it"), std::string::npos)
      << problems.kept()[1].text;
}

TEST(JsonlLimits, ALargeBlockIsNotMadeForASmallLine) {
  Opened opened(
      "{\"catalog\":{\"register_block_bytes\":4000000000,\"registers\":[{\"name\":\"a\",\"size\":4}"
      "]}}\n{\"kind\":\"frame\",\"registers\":{\"a\":\"0x1\"}}\n");
  ASSERT_TRUE(opened.source);
  EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 1u);
  Batch batch;
  ASSERT_TRUE(*opened.source->next(batch));
  ASSERT_EQ(batch.size(), 1u);
  const auto& frame = std::get<Frame>(batch.events()[0].body);  // with a block of its registers
  ASSERT_EQ(frame.blocks.size(), 1u);
  EXPECT_EQ(frame.blocks[0].bytes.size(), 4u);
  EXPECT_EQ(opened.problems->count(), 1u);
}

/// Two registers of 64 KiB, which few digits fill.
constexpr std::string_view kWide =
    R"({"catalog":{"registers":[{"name":"a","size":65536},{"name":"b","size":65536}]}})";

size_t count_events(const std::string& text) {
  size_t events = 0;
  Opened opened(text);
  Batch batch;
  while (*opened.source->next(batch)) events += batch.size();
  return events;
}

TEST(JsonlLimits, ABatchOfWideValuesHasFewOfThem) {
  const std::pair<const char*, size_t> lines[] = {
      {R"({"kind":"step","pc":1,"before":{"a":1,"b":1},"registers":{"a":2,"b":2}})", 1000},
      {R"({"kind":"frame","registers":{"a":1}})", 1000},
      {R"({"kind":"step","before":{"a":1,"b":1},"pc":"nowhere"})", 1}};  // 1: what is lost
  for (const auto& [line, events] : lines) {
    std::string text(kWide);
    for (int i = 0; i < 1000; ++i) text += fmt::format("\n{}", line);
    EXPECT_IN_MEMORY(32 << 20, EXPECT_EQ(count_events(text), events) << line);
  }
}

std::string repeated(std::string_view piece, size_t often) {
  std::string out;
  for (size_t i = 0; i < often; ++i) out += piece;
  return out;
}

/// What is said of such a line of events, "" when it is read.
std::string said_of(const std::string& members) {
  Opened opened("{\"catalog\":{}}\n{\"kind\":\"mark\",\"text\":\"a\"," + members + "}\n");
  Batch batch;
  while (*opened.source->next(batch)) continue;
  return opened.problems->count() == 0 ? "" : opened.problems->kept()[0].text;
}

TEST(JsonlLimits, ALineHasAMillionValuesAtMost) {
  EXPECT_EQ(said_of("\"x\":[" + repeated("{},", 400'000) + "1]"), "");
  EXPECT_EQ(said_of("\"x\":\"" + repeated("{},", 3'000'000) + "\""), "");
  const std::string many = "\"x\":[" + repeated("{},", 3'000'000) + "1]";
  EXPECT_IN_MEMORY(100 << 20, EXPECT_EQ(said_of(many), "line 2: it has more than 1048576 values; "
                                                       "left out"));
  EXPECT_NE(said_of("\"x\":" + repeated("[", 65) + repeated("]", 65)).find("nests deeper than 64"),
            std::string::npos);
}

TEST(JsonlLimits, AnObjectMayHaveAsManyMembersAsALineHasValues) {
  std::string many = "\"x\":{\"first\":0";
  for (int i = 0; i < 500'000; ++i) many += fmt::format(",\"{}\":1", i);
  EXPECT_EQ(said_of(many + "}"), "");
}

TEST(JsonlLimits, WhatIsLeftOutIsToldNowAndThen) {
  const std::string line = "{\"kind\":\"none\",\"x\":\"" + repeated("a", 1 << 20) + "\"}\n";
  Opened opened("{\"catalog\":{}}\n" + repeated(line, 10) +
                "{\"kind\":\"mark\",\"text\":\"a\"}\n");
  uint64_t lost = 0, batches = 0;
  Batch batch;
  for (; *opened.source->next(batch); ++batches) {
    ASSERT_FALSE(batch.empty());
    for (const Event& event : batch.events())
      if (const auto* one = std::get_if<Lost>(&event.body)) lost += one->count;
  }
  EXPECT_EQ(lost, 10u);
  EXPECT_EQ(batches, 3u);
  EXPECT_EQ(opened.problems->count(), 10u);
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
      ASSERT_TRUE(*opened.source->next(batch)) << value;
      EXPECT_TRUE(is_lost(batch)) << value;
    }
  }
}

/// Of more threads than are kept nothing holds either: another session begins.
TEST(JsonlLimits, ManyThreadsInFrontOfAHole) {
  for (const size_t threads : {100u, 20000u}) {
    std::string lines = R"({"catalog":{"machine":"i386","registers":[{"name":"eax","size":4}]}})";
    for (size_t tid = 1; tid <= threads; ++tid)
      lines += fmt::format(
          "\n{{\"kind\":\"step\",\"tid\":{},\"pc\":1,\"before\":{{\"eax\":1}}}}", tid);
    lines += "\nno line\n";
    for (size_t tid = 1; tid <= threads; ++tid)
      lines += fmt::format("\n{{\"kind\":\"step\",\"tid\":{},\"pc\":2}}", tid);
    Opened opened(lines);
    size_t sessions = 0, forgotten = 0, lost = 0;
    Batch batch;
    while (*opened.source->next(batch))
      for (const Event& event : batch.events()) {
        const auto* mark = std::get_if<Mark>(&event.body);
        sessions += mark != nullptr && mark->session;
        lost += std::holds_alternative<Lost>(event.body);
        if (const auto* step = std::get_if<Step>(&event.body))
          forgotten += step->before.size() == 1 && step->before[0].value.empty();
      }
    EXPECT_EQ(lost, 1u);
    EXPECT_EQ(sessions, threads == 100 ? 0u : 1u);
    EXPECT_EQ(forgotten, threads == 100 ? 100u : 0u);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
