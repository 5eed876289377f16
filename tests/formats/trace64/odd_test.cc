// Odd files: sound ones that look as if they were not, and damage in odd places.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "formats/trace64/read_back.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

const std::string kDump = full_block(4, {{16, 0x401000}}).bytes();
const std::string kIdle = std::string("\0\0\0\1\x90", 5);  // no word, no entry, nop

// Four bytes further on, five idle blocks are an id, an opcode, and a user block of 16 MiB.
TEST(Trace64Odd, BlocksThatTellNothingHideNoId) {
  for (const size_t steps : {2000u, 4u << 20}) {
    std::string bytes = head(kJson64) + kDump;
    for (size_t i = 0; i < steps; ++i) bytes += kIdle;
    Opened opened(bytes, "trace64");
    EXPECT_EQ(opened.source->steps()->count(), steps + 1);
    const Summary& summary = *opened.source->summary();
    EXPECT_EQ(summary.thread_count(), 1u);
    EXPECT_EQ(opened.problems->count(Problem::Severity::Warning), 0u);
  }
}

/// Each of so many threads does one step.
std::string many_threads(uint32_t threads) {
  std::string bytes = head(kJson64) + kDump;
  for (uint32_t i = 1; i < threads; ++i) {
    RawBlock step;
    step.tid = 4 + 4 * i;
    step.words = {{16, 0x401000 + i}};
    bytes += step.bytes();
  }
  return bytes;
}

TEST(Trace64Odd, ThreadsThatAreNotCountedAreTold) {
  for (const uint32_t threads : {65536u, 65537u, 65600u}) {
    Opened opened(many_threads(threads), "trace64");
    const Summary& summary = *opened.source->summary();
    EXPECT_EQ(opened.source->steps()->count(), threads);
    EXPECT_EQ(summary.thread_count(), std::min(threads, 65537u));
    EXPECT_EQ(opened.problems->count(Problem::Severity::Note), threads > 65536 ? 1u : 0u);
  }
}

TEST(Trace64Odd, AnAddressThatNobodyRecorded) {
  RawBlock first;
  first.tid = 4;
  first.words = {{0, 5}, {2, 0x200000}};
  RawBlock later;
  later.words = {{0, 6}, {16, 0x401003}};
  const std::string two = head(kJson64) + first.bytes() + kIdle;
  const ReadBack never(two);
  EXPECT_EQ(never.problems("no-program-counter"), 1u);
  EXPECT_EQ(never.opened.problems->kept()[0].text.find("the first 2 steps"), 0u);
  const ReadBack from_third(two + later.bytes() + kIdle);
  EXPECT_EQ(from_third.problems("no-program-counter"), 1u);
  EXPECT_EQ(from_third.opened.problems->kept()[0].text.find("the first 2 steps"), 0u);
  EXPECT_EQ(from_third.steps[2].pc, 0x401003u);
  for (size_t i = 0; i < 2; ++i) {
    StepIndex::Moment moment;
    StepIndex& steps = *from_third.opened.source->steps();
    ASSERT_TRUE(steps.state_before(i, moment).ok());
    const auto pc = *from_third.opened.source->catalog().registers.pc_index;
    EXPECT_FALSE(moment.registers.is_valid(pc));
  }
  EXPECT_EQ(ReadBack(head(kJson64) + kDump + kIdle).problems("no-program-counter"), 0u);
}

/// A recorder that is used for a few steps, and then for a few others, of another program.
std::string recorded(uint64_t seed, uint32_t tid, size_t steps) {
  std::vector<Moment> moments;
  Moment now;
  now.tid = tid;
  now.words.resize(172);
  for (uint32_t word = 0; word < 18; ++word)
    now.words[word] = seed * 0x9e3779b97f4a7c15 >> word;
  for (uint32_t word = 40; word < 72; ++word) now.words[word] = 0x1234 * word;
  now.opcode = "\x48\xff\xc0";
  for (size_t i = 0; i <= steps; ++i) {
    moments.push_back(now);
    ++now.words[0];
    now.words[16] += 3;
  }
  return record(moments, {});
}

TEST(Trace64Odd, ShortSessionsAreSessions) {
  for (const size_t first : {1, 2, 3, 5, 20, 99})
    for (const size_t second : {1, 3, 30, 450, 700})
      for (const uint32_t tid : {4, 96}) {
        const ReadBack got(head(kJson64) + recorded(1, 4, first) + recorded(7, tid, second));
        EXPECT_EQ(got.sessions, std::vector<uint64_t>{first}) << second << " " << tid;
        EXPECT_EQ(got.bad(), 0u);
        EXPECT_TRUE(rewritten(head(kJson64) + recorded(1, 4, first) + recorded(7, tid, second)) ==
                    head(kJson64) + recorded(1, 4, first) + recorded(7, tid, second));
      }
}

TEST(Trace64Odd, AnExceptionIsNoSession) {
  // Where an exception arrives all is listed once more; a few registers have changed.
  const auto file = [](uint32_t changed) {
    std::map<uint32_t, uint64_t> words = {{16, 0x7f001000}};
    for (uint32_t i = 0; i < changed; ++i) words[i] = 77 + i;
    return head(kJson64) + kDump + kIdle + full_block(4, words).bytes() + kIdle;
  };
  EXPECT_TRUE(ReadBack(file(3)).sessions.empty());
  EXPECT_EQ(ReadBack(file(15)).sessions.size(), 1u);
}

/// They are looked over, whatever stands in front of them.
TEST(Trace64Odd, ReservedFlagsAreNoDamage) {
  const auto step = [](uint64_t pc, uint8_t flags, uint8_t entry_flags) {
    RawBlock block;
    block.words = {{0, UINT64_MAX}, {16, pc}};
    block.more_flags = flags;
    if (entry_flags != 0) block.entries = {{0, 0, std::nullopt, entry_flags}};
    return block.bytes();
  };
  const std::string user = "\x80" + le(3, 4) + "abc";
  for (const std::string& odd : {step(0x40100a, 0x20, 0), step(0x40100a, 0, 2)}) {
    for (const std::string& front : {std::string(), user, user + user}) {
      std::string bytes = head(kJson64) + full_block(7, {{16, 0x401000}}).bytes();
      for (uint64_t i = 1; i < 500; ++i)
        bytes += i == 10 ? front + odd : step(0x401000 + i, 0, 0);
      const ReadBack got(bytes);
      EXPECT_EQ(got.steps.size(), 500u);
      EXPECT_EQ(got.bad(), 1u);
      EXPECT_EQ(ReadBack(rewritten(bytes)).steps.size(), 500u);
    }
    // Behind a switch of threads an id may be hidden; here there is none.
    RawBlock announces, arrives;
    announces.words = {{16, 0x401001}};
    announces.tid = 7;
    arrives.words = {{16, 0x402000}};
    arrives.tid = 12;
    std::string bytes = head(kJson64) + full_block(7, {{16, 0x401000}}).bytes() +
                        announces.bytes() + arrives.bytes() + step(0x402001, 0, 0) + odd;
    for (uint64_t i = 0; i < 400; ++i) bytes += step(0x402010 + i, 0, 0);
    const ReadBack got(bytes);
    EXPECT_EQ(got.steps.size(), 405u);
    EXPECT_EQ(got.opened.source->steps()->count(), 405u);
    EXPECT_EQ(got.problems("hidden-thread-id"), 0u);
  }
}

TEST(Trace64Odd, ADumpBetweenDamage) {
  const std::string lone = full_block(4, {{16, 0x402000}}).bytes();
  const std::string junk(40, '\x07');
  const ReadBack got(head(kJson64) + kDump + kIdle + junk + lone + junk + kDump + kIdle);
  ASSERT_EQ(got.steps.size(), 5u);
  EXPECT_EQ(got.steps[2].pc, 0x402000u);
  EXPECT_EQ(got.lost, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(got.problems("broken-block"), 2u);
  const ReadBack last(head(kJson64) + kDump + kIdle + junk + lone + junk);
  EXPECT_EQ(last.steps.size(), 3u);
}

/// More threads than are remembered at a time, reading and writing: what they add up to is right.
TEST(Trace64Odd, ManyThreads) {
  std::string bytes = head(kJson64);
  constexpr uint32_t kThreads = 1500;
  for (uint32_t i = 0; i < 3 * kThreads; ++i) {
    std::map<uint32_t, uint64_t> words;
    for (uint32_t word = 0; word < 16; ++word) words[word] = i % kThreads * 1000 + word;
    words[3] = i;
    words[16] = 0x401000 + i;
    RawBlock block = full_block(4 + 4 * (i % kThreads), words);
    if (i % 512 != 0) {
      block.words.clear();
      for (const auto& one : words) block.words.push_back(one);
    }
    bytes += block.bytes();
  }
  const auto expected = registers_of(bytes);
  const auto again = registers_of(rewritten(bytes));
  ASSERT_EQ(expected.size(), 3u * kThreads);
  ASSERT_EQ(again.size(), expected.size());
  Opened opened(bytes, "trace64");
  for (const auto& [seq, state] : expected) {
    ASSERT_EQ(again.at(seq).block, state.block) << seq;
    ASSERT_EQ(again.at(seq).valid, state.valid) << seq;
    if (seq % 97 != 0) continue;
    StepIndex::Moment moment;
    ASSERT_TRUE(opened.source->steps()->state_before(seq, moment).ok());
    EXPECT_EQ(moment.registers.block, state.block) << seq;
  }
}

/// There is no limit to how many can be written.
TEST(Trace64Odd, MoreThreadsThanFitAsTheyAre) {
  std::string text = R"({"catalog":{"machine":"x86-64"}})";
  constexpr uint64_t kThreads = 40000;
  for (uint64_t i = 0; i < 2 * kThreads; ++i) {
    const uint64_t tid = 1 + i % kThreads;
    text += fmt::format("\n{{\"kind\":\"step\",\"seq\":{},\"tid\":{},\"pc\":\"0x10\","
                        "\"opcode\":\"90\"",
                        i, tid);
    if (i < kThreads) text += fmt::format(",\"before\":{{\"rax\":\"{:#x}\"}}", 3 * tid);
    text += "}";
  }
  const std::string bytes = converted(text + "\n", "trace64");
  Opened opened(bytes);
  ASSERT_TRUE(opened.source) << bytes.substr(0, 200);
  ASSERT_EQ(opened.source->steps()->count(), 2 * kThreads);
  for (const uint64_t thread : {0u, 1u, 1023u, 1024u, 20000u, 39999u}) {
    StepIndex::Moment moment;
    ASSERT_TRUE(opened.source->steps()->state_before(kThreads + thread, moment).ok());
    EXPECT_EQ(load_uint(moment.registers.block.data(), 8, Endian::Little), 3 * (thread + 1));
  }
}

/// A user block of ours, whose data begin so: the block's length in front.
std::string own_user_block(char kind, const std::string& data) {
  const std::string all = std::string("TRACEWEL\1") + kind + data;
  return std::string("\xc0") + static_cast<char>(all.size()) + std::string(3, '\0') + all;
}

/// What is in front of the first full dump, and has no program counter, is no step: also where it
/// is looked at again, since a full dump behind it was none.
TEST(Trace64Odd, NoStepIsInFrontOfTheFirstFullDump) {
  const std::string no_opcode = std::string("\0\1\0\0\0", 5) + std::string(8, '\x22');
  const std::string broken = std::string("\0\xff\0\1", 4) + std::string(60, '\x7f');
  std::string bad_dump = full_block(5, {{16, 0x401000}}).bytes();
  // Its opcode is gone: the length is the low half of the fourth byte, the byte behind the id.
  bad_dump[3] = static_cast<char>(bad_dump[3] & 0xf0);
  bad_dump.erase(8, 1);
  const std::string bytes = head(kJson64) + no_opcode + broken + own_user_block(1, "one") +
                            own_user_block(1, "two") + bad_dump +
                            std::string("\0\1\0\1\x90\0", 6) + std::string(8, '\x44') +
                            std::string("\0\xff\0\1", 4) + std::string(3000, '\x7f');
  for (const std::string& rest : {std::string(), kDump + kIdle + kIdle}) {
    const ReadBack back(bytes + rest);
    EXPECT_EQ(back.steps.size(), rest.empty() ? 0u : 3u);
    EXPECT_GE(back.opened.problems->count(Problem::Severity::Damage), 2u);
  }
}

}  // namespace
}  // namespace tracewell::formats::test
