// Register blocks that are larger than any machine's, and threads with many registers.
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/support.h"
#include "formats/tfile/trailer.h"

namespace tracewell::formats::test {
namespace {

constexpr uint32_t kBlock = 0x40000, kMost = 0x20000;

/// A frame with a register block and four bytes of memory.
std::string wide_tfile() {
  std::string block(kBlock, 'x');
  block[0] = 'a';
  std::string frame = "R" + block + "M";
  frame += std::string("\0\x10\0\0\0\0\0\0\4\0abcd", 14);
  std::string out = "\x7fTRACE0\nR 40000\n";
  out += "tdesc <target><architecture>i386:x86-64</architecture><feature name='f'>\n";
  for (int i = 0; i < 4; ++i)
    out += fmt::format("tdesc <reg name='r{}' bitsize='524288'/>\n", i);
  out += "tdesc </feature></target>\nstatus 0;tnotrun:0;tframes:1\ntp T1:1000:E:0:0\n\n";
  out += std::string("\1\0", 2);
  const auto size = static_cast<uint32_t>(frame.size());
  for (int i = 0; i < 4; ++i) out += static_cast<char>(size >> (8 * i));
  return out + frame + std::string(2, '\0');
}

void expect_first_registers(Source& source) {
  const RegisterLayout& layout = source.catalog().registers;
  EXPECT_EQ(layout.size_bytes, kMost);
  ASSERT_EQ(layout.registers.size(), 2u);
  Batch batch;
  ASSERT_TRUE(*source.next(batch));
  ASSERT_EQ(batch.size(), 1u);
  const auto& frame = std::get<Frame>(batch.events()[0].body);
  ASSERT_EQ(frame.blocks.size(), 2u);
  ASSERT_EQ(frame.blocks[0].bytes.size(), kMost);
  EXPECT_EQ(frame.blocks[0].bytes[0], 'a');
  EXPECT_EQ(frame.blocks[1].address, 0x1000u);
  EXPECT_EQ(as_text(frame.blocks[1].bytes), "abcd");
}

TEST(WideBlocks, OfATfileTheFirstRegistersAreRead) {
  const std::string bytes = wide_tfile();
  Opened opened(bytes);
  ASSERT_TRUE(opened.source) << opened.error;
  expect_first_registers(*opened.source);
  std::vector<uint64_t> told;
  for (const Problem& one : opened.problems->kept()) told.push_back(one.offset.value_or(0));
  // The registers at the description, the block at its size.
  EXPECT_EQ(told, (std::vector<uint64_t>{bytes.find("tdesc "), bytes.find("R 40000")}));
}

TEST(WideBlocks, WhatIsWrittenOfThemIsAsItSays) {
  Opened opened(converted(wide_tfile(), "tfile"));
  ASSERT_TRUE(opened.source) << opened.error;
  expect_first_registers(*opened.source);
  const std::string json = converted(wide_tfile(), "jsonl");
  Opened again(json);
  ASSERT_TRUE(again.source) << again.error;
  expect_first_registers(*again.source);
}

TEST(WideBlocks, OfATraceBufferAsWell) {
  std::string bytes = read_file(TRACEWELL_SOURCE_DIR
                                "/tests/formats/tracebuffer/two-frames/input.twb");
  const uint32_t size = 0x7fffffff;
  std::memcpy(bytes.data() + 48, &size, sizeof size);
  Opened opened(bytes);
  ASSERT_TRUE(opened.source) << opened.error;
  EXPECT_EQ(opened.source->catalog().registers.size_bytes, kMost);
  ASSERT_FALSE(opened.problems->empty());
  EXPECT_EQ(opened.problems->kept()[0].offset, 48u);
  EXPECT_EQ(opened.problems->kept()[0].code, "block-size");
}

/// A row of each of `threads` that shows the first register, a row that cannot be read, and again
/// one of each that shows none.
std::string rows_of(size_t threads, size_t registers) {
  std::string out = R"({"arch":"mine","pointer_size":8,"regs":[)";
  for (size_t i = 0; i < registers; ++i) out += fmt::format("{}\"r{}\"", i == 0 ? "" : ",", i);
  out += "],\"trace\":[";
  for (const char* values : {"[1]", "[]"}) {
    for (size_t tid = 1; tid <= threads; ++tid)
      out += fmt::format("{{\"ip\":1,\"thread\":{},\"regs\":{}}},\n", tid, values);
    out += values[1] == '1' ? "{},\n" : "{\"ip\":2}]}";
  }
  return out;
}

TEST(ManyThreads, AfterAGapASessionBeginsRatherThanAllRegistersInEachRow) {
  for (const size_t threads : {100u, 9000u}) {
    Opened opened(rows_of(threads, 1000), "tvt");
    ASSERT_TRUE(opened.source) << opened.error;
    size_t steps = 0, told = 0, sessions = 0, lost = 0, unknown = 0;
    Batch batch;
    while (*opened.source->next(batch))
      for (const Event& event : batch.events()) {
        if (const auto* mark = std::get_if<Mark>(&event.body)) {
          sessions += mark->session;
          EXPECT_EQ(steps, threads);  // between the two
          EXPECT_EQ(lost, 1u);
        }
        lost += std::holds_alternative<Lost>(event.body);
        const auto* step = std::get_if<Step>(&event.body);
        if (step == nullptr) continue;
        ++steps;
        told += step->before.size() + step->registers.size();
        for (const auto& one : step->before) unknown += one.value.empty();
      }
    EXPECT_EQ(steps, 2 * threads + 1);
    EXPECT_EQ(lost, 1u);
    EXPECT_EQ(sessions, threads == 100 ? 0u : 1u);
    // Of few threads it is said of the first register that nobody knows it any more.
    EXPECT_EQ(unknown >= 100, threads == 100) << unknown;
    EXPECT_LE(told, 3 * steps);
  }
}

TEST(TfileTrailer, MasksThatFitNoMemoryAreRefused) {
  Catalog catalog;
  catalog.registers.registers.resize(65536);
  TfileTrailerWriter trailer;
  trailer.begin(catalog, "");
  std::vector<uint8_t> mask(8192);
  FrameBlock block;
  block.kind = FrameBlock::Kind::Registers;
  Frame frame;
  frame.blocks = {&block, 1};
  const size_t most = TfileTrailerWriter::kMaskBytesMax / mask.size();
  Status status;
  size_t added = 0;
  for (; added <= most && status.ok(); ++added) {
    mask[added / 8] |= static_cast<uint8_t>(1u << (added % 8));
    frame.registers_valid = mask;
    status = trailer.add({}, frame, std::nullopt);
  }
  EXPECT_EQ(added, most + 1);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::Limit);
}

// Each row of the viewer's has all registers: 30000 steps and 60000 registers took gigabytes.
TEST(WideBlocks, OfATvtRowsHaveSomeRegisters) {
  std::string catalog = R"({"catalog":{"machine":"x86-64","registers":[)";
  for (int i = 0; i < 3000; ++i)
    catalog += fmt::format(R"({}{{"name":"r{}","number":{},"size":2}})", i == 0 ? "" : ",", i, i);
  catalog += "]}}\n";
  catalog += R"({"kind":"step","tid":1,"pc":"0x1","opcode":"90","registers":{"r2999":"0x1"}})" "\n";
  std::string told;
  const std::string text = converted(catalog, "tvt", &told);
  EXPECT_NE(text.find(R"("r1023":1023})"), std::string::npos);
  EXPECT_EQ(text.find("r1024"), std::string::npos);
  EXPECT_LT(text.size(), 30'000u);
  EXPECT_NE(told.find("registers behind the first 1024 are left out"), std::string::npos) << told;
}

}  // namespace
}  // namespace tracewell::formats::test
