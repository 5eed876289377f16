// However one comes to a step, it is the same step: read from the beginning, from any other place,
// or asked for its registers alone. Of whole files and of broken ones.
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/trace64/random_files.h"
#include "formats/trace64/sums.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

using tracewell::test::kEach;

void expect_same(const Known& one, const Known& wanted, const RegisterLayout& layout) {
  EXPECT_EQ(one.seq, wanted.seq);
  EXPECT_EQ(one.tid, wanted.tid);
  EXPECT_EQ(one.pc, wanted.pc);
  EXPECT_EQ(one.opcode, wanted.opcode);
  EXPECT_EQ(one.stored, wanted.stored);
  EXPECT_EQ(one.after_known, wanted.after_known);
  EXPECT_EQ(one.memory_incomplete, wanted.memory_incomplete);
  EXPECT_TRUE(one.changes == wanted.changes);
  EXPECT_TRUE(one.memory == wanted.memory);
  for (uint32_t i = 0; i < layout.registers.size(); ++i) {
    const Register& each = layout.registers[i];
    const auto value = [&](const RegisterState& in) {
      return to_hex(Bytes(in.block).subspan(each.offset, each.size_bytes));
    };
    EXPECT_EQ(one.before.is_valid(i), wanted.before.is_valid(i)) << each.name;
    EXPECT_EQ(value(one.before), value(wanted.before)) << each.name;
  }
}

/// A file is read through once, and then from `places` places.
void expect_seeks(const std::string& bytes, uint32_t seed, size_t places) {
  Opened opened(bytes, "trace64");
  ASSERT_TRUE(opened.source) << opened.error;
  const RegisterLayout& layout = opened.source->catalog().registers;
  const std::vector<Known> all = all_steps(*opened.source);
  StepIndex& index = *opened.source->steps();
  ASSERT_EQ(all.size(), index.count());
  if (all.empty()) return;
  // As the next one opens it, with what this one noted.
  const auto notes = opened.source->reader_notes()->notes();
  OpenOptions options;
  options.notes = {notes, bytes.size()};
  const Opened noted(bytes, "trace64", options);
  ASSERT_TRUE(noted.source);
  EXPECT_EQ(noted.source->reader_notes()->notes(), notes);
  std::mt19937_64 random(seed);
  const auto keyframes = index.keyframes();
  for (size_t i = 0; i < places; i += kEach) {
    uint64_t seq = random() % all.size();
    if (i % 4 == 0) seq = keyframes[random() % keyframes.size()];
    if (i % 16 == 1) seq = all.size() - 1;
    SCOPED_TRACE(fmt::format("from {} of {}", seq, all.size()));
    StepIndex::Moment moment;
    ASSERT_TRUE((i % 3 == 0 ? *noted.source->steps() : index).state_before(seq, moment).ok());
    Known at_once = all[seq];
    at_once.tid = moment.tid;
    at_once.pc = moment.pc;
    at_once.before = moment.registers;
    expect_same(at_once, all[seq], layout);
    auto other = index.open_at(seq);
    ASSERT_TRUE(other.ok());
    Source* from = other->get();
    if (i % 2 == 0) {
      ASSERT_TRUE(index.seek(seq).ok());
      from = opened.source.get();
    }
    uint64_t at = seq;
    const uint64_t end = std::min<uint64_t>(all.size(), seq + 1 + random() % 600);
    each_step(*from, [&](const Known& one) {
      expect_same(one, all[at], layout);
      return ++at < end && !::testing::Test::HasFailure();
    });
    EXPECT_EQ(at, end);
    if (::testing::Test::HasFailure()) return;
  }
}

class Trace64Seek : public ::testing::TestWithParam<uint32_t> {};

TEST_P(Trace64Seek, AnyPlaceOfAnyFile) {
  const uint32_t seed = GetParam();
  const std::string bytes = random_file(seed);
  expect_seeks(bytes, seed, 24);
  for (uint32_t i = 0; i < 3 && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("damage {}", i));
    expect_seeks(damaged(bytes, seed * 16 + i), seed, 16);
  }
  if (seed % 6 != 0 || HasFailure()) return;
  Opened opened(bytes, "trace64");
  expect_seeks(saved(*opened.source, {.compat = false, .style = "minimal"}), seed, 16);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Trace64Seek, ::testing::Range(0u, 16u, uint32_t{kEach}));

TEST(Trace64Seeks, Samples) {
  for (const char* name :
       {"synthetic_single", "synthetic_threads_fixed", "synthetic_threads_tidbug"}) {
    SCOPED_TRACE(name);
    const std::string bytes =
        read_file(fmt::format("{}/tests/formats/data/{}.trace64", TRACEWELL_SOURCE_DIR, name));
    expect_seeks(bytes, 1, 60);
    for (uint32_t seed = 0; seed < 8; seed += kEach)
      expect_seeks(damaged(bytes, seed), seed, 12);
  }
}

TEST(Trace64Seeks, FilesWithoutDumps) {
  const auto moments = windows_program(3, true, 2, 5, 9500);
  std::string blocks;
  for (size_t i = 0; i < moments.size(); ++i) {
    RawBlock block;
    block.opcode = moments[i].opcode;
    block.entries = moments[i].entries;
    block.tid = moments[i].tid;
    for (uint32_t word = 0; word < 172; ++word)
      if (word % 7 != 3 &&
          (i == 0 ? word < 90 : moments[i].words[word] != moments[i - 1].words[word]))
        block.words.emplace_back(word, moments[i].words[word]);
    blocks += block.bytes();
  }
  expect_seeks(file_of(true, blocks), 1, 80);
  for (uint32_t seed = 0; seed < 4; seed += kEach)
    expect_seeks(damaged(file_of(true, blocks), seed), seed, 20);
}

/// What a step left is told by the step, wherever one begins to read: where many threads take turns
/// or sleep for long, and however much there is to look at in between.
TEST(Trace64Seeks, ThreadsThatSleep) {
  for (const uint32_t threads : {2u, 40u, 1500u}) {
    SCOPED_TRACE(threads);
    std::vector<std::array<uint64_t, 172>> all(threads);
    std::string blocks;
    std::mt19937_64 random(threads);
    uint32_t at = 0, last = 0;
    for (size_t i = 0; i < 4000; ++i) {
      // Most of the time two of them alternate.
      at = threads < 100 && random() % 8 != 0 ? (at + 1) % 2 : random() % threads;
      RawBlock block;
      for (uint32_t word = 0; word < 172; ++word)
        if (i % 512 == 0 || all[at][word] != all[last][word])
          block.words.emplace_back(word, all[at][word]);
      if (i % 512 == 0 || at != last) block.tid = 100 + at;
      blocks += block.bytes();
      last = at;
      ++all[at][16];
      all[at][random() % 172] = random();
    }
    const std::string bytes = file_of(true, blocks);
    expect_seeks(bytes, threads, 40);
    for (uint32_t seed = 0; seed < 2; seed += kEach)
      expect_seeks(damaged(bytes, seed), seed, 20);
  }
}

/// What the last step is about to change is told, unless a dump lists everything anyway.
TEST(Trace64Seeks, TheLastStep) {
  for (const uint64_t steps : {2u, 40u, 512u, 513u, 514u, 1025u}) {
    SCOPED_TRACE(steps);
    std::string blocks;
    for (uint64_t i = 0; i < steps; ++i) {
      RawBlock block;
      block.words = {{0, 42}, {16, i}};  // rax is the same all the time
      blocks += i % 512 == 0 ? full_block(7, {{0, 42}, {16, i}}).bytes() : block.bytes();
    }
    const std::string bytes = file_of(true, blocks);
    expect_seeks(bytes, 1, 33);
    const ReadBack got(bytes);
    const auto told = got.steps.back().registers;
    ASSERT_EQ(told.size(), steps % 512 == 1 ? 0u : 1u);
    if (!told.empty()) {
      EXPECT_EQ(told[0].index, 0u);
      EXPECT_TRUE(told[0].value.empty());
    }
  }
}

/// The base of GS is known from where it is shown, to the session's end.
TEST(Trace64Seeks, TheBaseOfGs) {
  const auto gs = [](uint64_t pc, uint64_t base) {
    RawBlock block;
    block.words = {{16, pc}};
    block.opcode = text_from_hex("65488b042530000000").value();
    block.entries = {{base + 0x30, 1, {}, 0}};
    return block.bytes();
  };
  const auto plain = [](uint64_t pc) {
    RawBlock block;
    block.words = {{16, pc}};
    return block.bytes();
  };
  const std::string dump = full_block(7, {{16, 0x1000}}).bytes();
  const std::string bytes = file_of(true, dump + plain(1) + gs(2, 0x5000) + plain(11) +
                                              gs(12, 0x5000) + gs(21, 0x6000) + plain(30));
  Opened opened(bytes, "trace64");
  const RegisterLayout& layout = opened.source->catalog().registers;
  const Register& base = *layout.find("gs_base");
  const auto index = static_cast<uint32_t>(&base - layout.registers.data());
  const std::vector<uint64_t> wanted = {0, 0, 0x5000, 0x5000, 0x5000, 0x6000, 0x6000};
  StepIndex::Moment moment;
  for (uint64_t seq = 0; seq < wanted.size(); ++seq) {
    ASSERT_TRUE(opened.source->steps()->state_before(seq, moment).ok());
    EXPECT_EQ(moment.registers.is_valid(index), wanted[seq] != 0) << seq;
    EXPECT_EQ(load_uint(moment.registers.block.data() + base.offset, 8, Endian::Little),
              wanted[seq]);
  }
  expect_seeks(bytes, 1, 40);
}

}  // namespace
}  // namespace tracewell::formats::test
