// Accesses of which not every byte around them is known: a file has whole words, and says of which
// of them nobody knows what was there.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "base/varint.h"
#include "formats/random_steps.h"
#include "formats/trace64/blocks/user.h"
#include "formats/trace64/model.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

using Kind = Step::MemoryAccess::Kind;

std::string content(Bytes bytes) { return bytes.empty() ? "?" : to_hex(bytes); }

/// One line a step, without registers.
std::vector<std::string> accesses_of(Source& source) {
  std::vector<std::string> out;
  Batch batch;
  while (*source.next(batch)) {
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (!step) continue;
      std::string line = fmt::format("{} {} {:#x} {}:", event.seq, event.tid, step->pc,
                                     to_hex(step->opcode));
      for (const auto& one : step->memory)
        line += fmt::format(" {} {:#x} {} {}>{}", static_cast<int>(one.kind), one.address, one.size,
                            content(one.old_bytes), content(one.new_bytes));
      out.push_back(line + (step->memory_incomplete ? " incomplete" : ""));
    }
  }
  return out;
}

std::vector<std::string> accesses_of(const std::string& bytes, std::string_view format = "") {
  Opened opened(bytes, format);
  return opened.source ? accesses_of(*opened.source) : std::vector<std::string>{opened.error};
}

/// Every size, with and without what was there before; each at places of its own, some of which
/// come again.
std::string all_sizes(bool wide) {
  const char* const base = wide ? "rdx" : "edx";
  std::string out = fmt::format(R"({{"catalog":{{"machine":"{}"}}}})", wide ? "x86-64" : "i386");
  struct Form {
    const char* opcode;
    uint32_t size;
    bool reads, writes;
  };
  const Form forms[] = {
      {"8a02", 1, true, false},     {"8802", 1, false, true},     {"668b02", 2, true, false},
      {"668902", 2, false, true},   {"8b02", 4, true, false},     {"8902", 4, false, true},
      {"df2a", 8, true, false},     {"df3a", 8, false, true},     {"0f1002", 16, true, false},
      {"0f1102", 16, false, true},  {"c5fc1002", 32, true, false}, {"c5fc1102", 32, false, true},
      {"0002", 1, true, true},      {"0102", 4, true, true},      {"90", 4, true, false},
      {"90", 2, false, true},       {"ff32", 4, true, false}};
  uint64_t seq = 0;
  for (uint32_t round = 0; round < 3; ++round)
    for (const Form& form : forms)
      for (uint32_t olds = 0; olds < 2; ++olds) {
        const uint64_t at = 0x200000 + 64 * (seq % 23) + round;
        std::string bytes;
        for (uint32_t i = 0; i < form.size; ++i)
          bytes += fmt::format("{:02x}", (seq * 7 + i) % 251);
        std::string access = form.reads && form.writes ? "read-write"
                             : form.writes             ? "write"
                                                       : "read";
        out += fmt::format("\n{{\"kind\":\"step\",\"seq\":{},\"pc\":\"{:#x}\",\"opcode\":\"{}\","
                           "\"before\":{{\"{}\":\"{:#x}\"}},\"memory\":[{{\"access\":\"{}\","
                           "\"addr\":\"{:#x}\",\"size\":{}",
                           seq, 0x401000 + 16 * seq, form.opcode, base, at, access, at, form.size);
        if (form.reads || olds != 0) out += fmt::format(",\"old\":\"{}\"", bytes);
        if (form.writes) out += fmt::format(",\"new\":\"{}\"", std::string(bytes.size(), 'a'));
        out += "}]}";
        ++seq;
      }
  return out + "\n";
}

TEST(Trace64Told, BytesBesideAnAccessStayUnknown) {
  for (const bool wide : {true, false}) {
    const std::string text = all_sizes(wide);
    const auto expected = accesses_of(text);
    ASSERT_EQ(expected.size(), 3u * 17 * 2);
    std::string told;
    const std::string bytes = converted(text, "trace64", &told);
    EXPECT_EQ(told.find("left out"), std::string::npos) << told;
    EXPECT_EQ(accesses_of(bytes), expected);
    EXPECT_EQ(accesses_of(converted(bytes, "jsonl")), expected);
    EXPECT_EQ(rewritten(bytes), bytes);
    EXPECT_EQ(converted(converted(bytes, "jsonl"), "trace64"), bytes);
  }
}

TEST(Trace64Told, WhateverTheInstruction) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomSteps::Wanted wanted;
    wanted.wide = seed % 2 == 0;
    wanted.threads = 1 + seed % 3;
    wanted.opcodes = true;
    wanted.write_unread = true;
    wanted.registers = {wanted.wide ? "rsp" : "esp"};
    RandomSteps made(seed, wanted);
    ListSource from(made.catalog, made.events().events());
    auto expected = accesses_of(from);
    ListSource again(made.catalog, made.events().events());
    const std::string bytes = written(again, "trace64");
    auto got = accesses_of(bytes, "trace64");
    ASSERT_EQ(got.size(), expected.size());
    // A step without any has none, whatever its instruction would lead one to expect.
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], expected[i]) << seed;
    EXPECT_TRUE(rewritten(bytes) == bytes) << seed;
    // From the middle, and in front of a full dump.
    Opened opened(bytes, "trace64");
    for (const size_t at : {got.size() / 2, got.size() - 1}) {
      auto part = opened.source->steps()->open_at(at);
      ASSERT_TRUE(part.ok());
      EXPECT_EQ(accesses_of(**part), std::vector<std::string>(got.begin() + at, got.end())) << seed;
    }
  }
}

/// x64dbg shows what stands in the words; that is what was seen last.
TEST(Trace64Told, OthersSeeWhatWasThereLast) {
  const auto step = [](const char* pc, const char* opcode, const std::string& access) {
    return fmt::format(R"({{"kind":"step","pc":"{}","opcode":"{}","memory":[{{{}}}]}})", pc, opcode,
                       access) + "\n";
  };
  const std::string bytes = converted(
      R"({"catalog":{"machine":"x86-64"}})" "\n" +
          step("0x10", "488902",
               R"("access":"write","addr":"0x1000","size":8,"new":"1122334455667788")") +
          step("0x13", "8802", R"("access":"write","addr":"0x1003","size":1,"new":"99")") +
          step("0x15", "8a02", R"("access":"read","addr":"0x1002","size":1,"old":"33")"),
      "trace64");
  // Of 8 bytes at 0x1002: 6 were seen.
  const std::string entry = "\x01" + le(0x1002, 8) + "\x33\x99\x55\x66\x77\x88" + le(0, 2);
  EXPECT_EQ(bytes.substr(bytes.size() - entry.size()), entry);
  EXPECT_NE(bytes.find(le(0x1003, 8) + "\x44\x55\x66\x77\x88" + le(0, 3) + "\x99\x55\x66\x77\x88"),
            std::string::npos);
  const auto got = accesses_of(bytes);
  EXPECT_EQ(got[1], "1 0 0x13 8802: 1 0x1003 1 ?>99");
  EXPECT_EQ(got[2], "2 0 0x15 8a02: 0 0x1002 1 33>?");
}

TEST(Trace64Told, CompatSaysHowManyReadAsOthers) {
  std::string text = all_sizes(true);
  for (int i = 0; i < 3; ++i)  // a known old content, which only a block at the end can vouch for
    text += R"({"kind":"step","pc":"0x10","opcode":"50","before":{"rsp":"0x7008"},"memory":)"
            R"([{"access":"write","addr":"0x7000","size":8,"old":"0102030405060708",)"
            R"("new":"1112131415161718"}]})"
            "\n";
  Opened opened(text);
  const std::string told = left_out_by_compat(*opened.source);
  EXPECT_NE(told.find("instructions show accesses as others than they were"), std::string::npos)
      << told;
  EXPECT_NE(told.find("3 pushes and calls do not say whose old content"), std::string::npos)
      << told;
}

/// Pushes of one session, of some of which the old content is known.
TEST(Trace64Told, PushesNeedNotBeAlike) {
  std::string text = R"({"catalog":{"machine":"x86-64"}})";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("\n{{\"kind\":\"step\",\"seq\":{},\"pc\":\"{:#x}\",\"opcode\":\"50\","
                        "\"before\":{{\"rsp\":\"{:#x}\"}},\"memory\":[{{\"access\":\"write\","
                        "\"addr\":\"{:#x}\",\"size\":8{},\"new\":\"{:02x}12131415161718\"}}]}}",
                        i, 0x10 + i, 0x7000 - 8 * i, 0x6ff8 - 8 * i,
                        i % 3 != 0 ? R"(,"old":"0102030405060708")" : "", i);
  EXPECT_EQ(accesses_of(converted(text + "\n", "trace64")), accesses_of(text + "\n"));
}

/// Steps that a filter took out make the one before look as if it had faulted.
TEST(Trace64Told, StepsThatAreLeftOutChangeNothing) {
  std::string kept = R"({"catalog":{"machine":"x86-64"}})";
  for (int i = 0; i < 4; ++i)
    kept += fmt::format("\n{{\"kind\":\"step\",\"seq\":{},\"pc\":\"{:#x}\",\"opcode\":\"488902\","
                        "\"before\":{{\"rdx\":\"0x5000\"}},\"memory\":[{{\"access\":\"write\","
                        "\"addr\":\"0x5000\",\"size\":8,\"old\":\"0000000000000000\","
                        "\"new\":\"{:02x}00000000000000\"}}]}}",
                        i, 0x1000 + 0x100 * i, i);
  const std::string bytes = converted(kept + "\n", "trace64");
  EXPECT_EQ(accesses_of(bytes), accesses_of(kept + "\n"));
  EXPECT_EQ(rewritten(bytes), bytes);
}

/// More than a block has room for: the accesses stay, their contents are counted.
TEST(Trace64Told, MoreThanThereIsRoomFor) {
  std::string text = R"({"catalog":{"machine":"x86-64"}})"
                     "\n{\"kind\":\"step\",\"pc\":\"0x10\",\"opcode\":\"90\",\"memory\":[";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{}{{\"access\":\"read\",\"addr\":\"{:#x}\",\"size\":1,\"old\":\"07\"}}",
                        i == 0 ? "" : ",", 0x1000 + 64 * i);
  std::string told;
  const std::string bytes = converted(text + "]}\n", "trace64", &told);
  EXPECT_NE(told.find("left out: 8 accesses are without their contents"), std::string::npos)
      << told;
  Opened opened(bytes);
  Batch batch;
  ASSERT_TRUE(*opened.source->next(batch));
  const auto& step = std::get<Step>(batch.events()[0].body);
  ASSERT_EQ(step.memory.size(), 40u);
  EXPECT_FALSE(step.memory[31].old_bytes.empty());
  EXPECT_TRUE(step.memory[32].old_bytes.empty());
  EXPECT_EQ(step.memory[39].address, 0x1000u + 64 * 39);
}

/// Its step's block may look as odd as it likes.
TEST(Trace64Told, InFrontOfABlockWithReservedFlags) {
  RawBlock step = full_block(1, {{2, 0x5000}, {16, 0x10}});
  step.opcode = "\x8a\x02";
  step.entries = {{0x5000, 0x1122334455667788, std::nullopt, 0xf0}};
  const std::string own = std::string(trace64::kOwnSignature) + std::string("\1\5\0", 3);
  const std::string block = "\xc0" + le(own.size(), 4) + own;
  EXPECT_EQ(accesses_of(head(kJson64) + block + step.bytes()).size(), 1u);
  EXPECT_EQ(accesses_of(head(kJson64) + step.bytes() + block + step.bytes()).size(), 2u);
}

/// What does not fit the step's block says nothing.
TEST(Trace64Told, DamagedOnesAreLeftAside) {
  RawBlock step = full_block(1, {{2, 0x5000}, {16, 0x10}});
  step.opcode = "\x8a\x02";
  step.entries = {{0x5000, 0x1122334455667788, std::nullopt, 0}};
  const auto expected = accesses_of(head(kJson64) + step.bytes());
  const std::string own = std::string(trace64::kOwnSignature) + "\1\5";
  for (const std::string& data :
       {std::string(), std::string("\0\4", 2), std::string("\0\4\x09", 3), std::string("\0\4\0", 3),
        std::string("\0\x24\1\1", 4), std::string("\0\x10\1\2", 4),
        std::string("\0\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12)}) {
    const std::string block = "\xc0" + le(own.size() + data.size(), 4) + own + data;
    EXPECT_EQ(accesses_of(head(kJson64) + block + step.bytes()), expected)
        << to_hex(as_bytes(data));
  }
}

}  // namespace
}  // namespace tracewell::formats::test
