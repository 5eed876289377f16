// What a step left where another thread goes on: its thread's next step tells it, if that is near
// enough and nothing is missing in between.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/trace64/random_files.h"
#include "formats/trace64/read/ahead.h"
#include "formats/trace64/sums.h"

namespace tracewell::formats::test {
namespace {

using trace64::ThreadsAhead;

/// Of a thread, with values of rax, rcx and so on by word.
std::string block(uint32_t tid, std::vector<std::pair<uint32_t, uint64_t>> words) {
  RawBlock one;
  one.tid = tid;
  one.words = std::move(words);
  return one.bytes();
}

/// A step of thread 1, `others` steps of thread 2, and thread 1 again, with another rax.
std::string sleeping(uint64_t others) {
  std::string blocks = full_block(1, {{0, 5}, {1, 6}, {16, 0x10}}).bytes();
  blocks += block(2, {{0, 7}, {1, 8}, {16, 0x20}});
  RawBlock same;
  for (uint64_t i = 1; i < others; ++i) blocks += same.bytes();
  blocks += block(1, {{0, 9}, {1, 6}, {16, 0x11}});
  return head(kJson64) + blocks;
}

std::optional<uint64_t> rax_of(std::span<const Step::RegisterChange> changes) {
  for (const auto& one : changes)
    if (one.index == 0 && !one.value.empty()) return load_uint(one.value.data(), 8, Endian::Little);
  return std::nullopt;
}

TEST(Trace64Ahead, AStepTellsWhatItsThreadFindsLater) {
  for (const uint64_t others : {1u, 2u, 700u, 5000u}) {
    ReadBack got(sleeping(others));
    ASSERT_EQ(got.steps.size(), others + 2);
    const Step& left = got.steps.front();
    EXPECT_TRUE(left.after_known);
    ASSERT_EQ(left.registers.size(), 2u) << "rcx is as it was";
    EXPECT_EQ(got.value(left.registers, "rax"), 9u);
    EXPECT_EQ(got.value(left.registers, "rip"), 0x11u);
    EXPECT_TRUE(got.steps.back().before.empty()) << "it is told already";
    EXPECT_FALSE(got.steps[others].after_known) << "thread 2 never goes on";
    EXPECT_TRUE(got.steps[others].registers.empty());
  }
}

TEST(Trace64Ahead, NobodyWaitsBeyondTheWindow) {
  for (const uint64_t distance : {ThreadsAhead::kWindow, ThreadsAhead::kWindow + 1}) {
    const bool near = distance <= ThreadsAhead::kWindow;
    Opened opened(sleeping(distance - 1), "trace64");
    Batch batch;
    uint64_t seen = 0;
    while (*opened.source->next(batch)) {
      for (const Event& event : batch.events()) {
        const auto& step = std::get<Step>(event.body);
        if (event.seq == 0) {
          EXPECT_EQ(step.after_known, near);
          EXPECT_EQ(rax_of(step.registers).has_value(), near);
        }
        if (event.seq == distance) {
          EXPECT_EQ(step.before.empty(), near);
          EXPECT_EQ(rax_of(step.before).has_value(), !near);
        }
        ++seen;
      }
    }
    EXPECT_EQ(seen, distance + 1);
    // Also for who begins with that step.
    const auto other = opened.source->steps()->open_at(0);
    ASSERT_TRUE(*(*other)->next(batch));
    EXPECT_EQ(std::get<Step>(batch.events()[0].body).after_known, near);
  }
}

/// Another thread sleeps meanwhile, so that more is found than is kept.
TEST(Trace64Ahead, MoreThanIsKept) {
  constexpr size_t kSteps = 5000;
  std::string blocks = full_block(1, {{0, 5}}).bytes();
  for (size_t i = 1; i < kSteps; ++i) {
    std::map<uint32_t, uint64_t> words;
    for (uint32_t word = 0; word < 172; ++word) words[word] = (i * 0x9e3779b97f4a7c15) ^ word;
    words[0] = i;
    RawBlock one = full_block(static_cast<uint32_t>(2 + i % 2), words);
    if (i % 512 != 0) one.words.pop_back();  // no full dump
    blocks += one.bytes();
  }
  blocks += block(1, {{0, 4}});
  ReadBack got(head(kJson64) + blocks);
  ASSERT_EQ(got.steps.size(), kSteps + 1);
  EXPECT_EQ(got.value(got.steps[0].registers, "rax"), 4u);
  size_t bytes = 0;
  for (size_t i = 1; i + 2 < kSteps; ++i) {
    ASSERT_TRUE(got.steps[i].after_known) << i;
    ASSERT_EQ(got.value(got.steps[i].registers, "rax"), i + 2);
    for (const auto& one : got.steps[i].registers) bytes += one.value.size();
  }
  EXPECT_GT(bytes, ThreadsAhead::kBytesKept);
}

/// Some thousand take turns, and come back.
TEST(Trace64Ahead, MoreThreadsThanAreKept) {
  constexpr size_t kThreads = 3 * ThreadsAhead::kThreadsKept;
  std::string blocks = full_block(1, {{0, 0}, {16, 1}}).bytes();
  for (size_t i = 1; i < 3 * kThreads; ++i)
    blocks += block(static_cast<uint32_t>(1 + i % kThreads), {{0, i}, {16, 1 + i}});
  ReadBack got(head(kJson64) + blocks);
  ASSERT_EQ(got.steps.size(), 3 * kThreads);
  for (size_t i = 0; i < got.steps.size(); ++i) {
    const bool last = i >= 2 * kThreads;
    ASSERT_EQ(got.steps[i].after_known, !last) << i;
    ASSERT_EQ(got.value(got.steps[i].registers, "rax"),
              last ? std::nullopt : std::optional<uint64_t>(i + kThreads));
  }
}

TEST(Trace64Ahead, NothingIsTakenOverALoss) {
  const std::string start = head(kJson64) + full_block(1, {{0, 5}, {16, 0x10}}).bytes() +
                            block(2, {{0, 6}, {16, 0x20}});
  ReadBack got(start + "\x01\x02\x03" + full_block(1, {{0, 7}, {16, 0x11}}).bytes());
  ASSERT_EQ(got.steps.size(), 3u);
  EXPECT_EQ(got.lost.size(), 1u);
  EXPECT_FALSE(got.steps[0].after_known);
  EXPECT_TRUE(got.steps[0].registers.empty());
  EXPECT_EQ(got.value(got.steps[2].before, "rax"), 7u);
  // A block that nobody understands is none.
  ReadBack whole(start + "\x81" + le(2, 4) + "ab" + block(1, {{0, 7}, {16, 0x11}}));
  ASSERT_EQ(whole.steps.size(), 3u);
  EXPECT_TRUE(whole.steps[0].after_known);
  EXPECT_EQ(whole.value(whole.steps[0].registers, "rax"), 7u);
}

TEST(Trace64Ahead, NothingIsTakenOverFromAnotherSession) {
  const auto moments = windows_program(9, true, 3, 20, 400);
  const size_t first = moments.size() - 1;
  ReadBack got(file_of(true, record(moments, {}) +
                                 record(windows_program(10, true, 3, 20, 400), {})));
  ASSERT_EQ(got.sessions, std::vector<uint64_t>{first});
  std::set<uint64_t> later;  // threads
  for (size_t i = first; i-- > 0;)
    EXPECT_EQ(got.steps[i].after_known, !later.insert(got.tids[i]).second) << i;
  EXPECT_EQ(later.size(), 3u);
}

/// Of a register that was not known before, nobody knows whether the step changed it.
TEST(Trace64Ahead, WhatWasNotKnownBeforeIsToldWhereItIsFound) {
  ReadBack got(head(kJson64) + block(1, {{0, 5}, {16, 0x10}}) + block(2, {{16, 0x20}}) +
               block(1, {{0, 6}, {1, 7}, {16, 0x11}}));
  ASSERT_EQ(got.steps.size(), 3u);
  EXPECT_FALSE(got.steps[0].after_known);
  ASSERT_EQ(got.steps[0].registers.size(), 2u);
  EXPECT_EQ(got.value(got.steps[0].registers, "rax"), 6u);
  EXPECT_EQ(got.value(got.steps[0].registers, "rip"), 0x11u);
  ASSERT_EQ(got.steps[2].before.size(), 1u);
  EXPECT_EQ(got.value(got.steps[2].before, "rcx"), 7u);
}

/// Nor does what is not known any more stay as it was.
TEST(Trace64Ahead, WhatIsNotKnownAnyMore) {
  const std::string text =
      R"({"catalog":{"endian":"little","machine":"x86-64"}}
{"kind":"step","tid":1,"pc":"0x10","opcode":"90","before":{"rax":"0x5","rcx":"0x3","rip":"0x10"},)"
      R"("registers":{"rax":null,"rip":"0x11"}}
{"kind":"step","tid":2,"pc":"0x20","opcode":"90","before":{"rax":"0x6","rcx":"0x4","rip":"0x20"},)"
      R"("registers":{"rip":"0x21"}}
{"kind":"step","tid":1,"pc":"0x11","opcode":"90","registers":{"rip":"0x12"}}
{"kind":"step","tid":1,"pc":"0x12","opcode":"90","registers":{"rip":"0x13"}}
)";
  const std::string bytes = converted(text, "trace64");
  ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 4u);
  EXPECT_TRUE(got.steps[0].after_known);
  ASSERT_EQ(got.steps[0].registers.size(), 2u);
  EXPECT_EQ(got.steps[0].registers[0].index, 0u);
  EXPECT_TRUE(got.steps[0].registers[0].value.empty()) << "rax";
  EXPECT_EQ(got.value(got.steps[0].registers, "rip"), 0x11u);
  EXPECT_TRUE(rewritten(bytes) == bytes);
  EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes);
}

/// At the end of a file that grows nobody waits; who reads again is told.
TEST(Trace64Ahead, AFileThatGrows) {
  const std::string whole = sleeping(20);
  const std::string less = whole.substr(0, whole.size() - 30);
  Opened opened(less, "trace64");
  StepIndex& index = *opened.source->steps();
  ASSERT_EQ(index.count(), 21u);
  Batch batch;
  const auto first_is_known = [&](Source& source) {
    EXPECT_TRUE(*source.next(batch));
    return std::get<Step>(batch.events()[0].body).after_known;
  };
  EXPECT_FALSE(first_is_known(*opened.source));
  EXPECT_FALSE(*opened.source->next(batch)) << "all is read";
  write_file(opened.folder->file("input"), whole);
  EXPECT_TRUE(*index.refresh());
  ASSERT_TRUE(*opened.source->next(batch));
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(rax_of(std::get<Step>(batch.events()[0].body).before), 9u);
  EXPECT_TRUE(first_is_known(**index.open_at(0)));
  ASSERT_TRUE(index.seek(0).ok());
  EXPECT_TRUE(first_is_known(*opened.source));
}

/// Both styles of writing give the same again, and say as much.
TEST(Trace64Ahead, IsTheSameWhenItIsWritten) {
  RandomProgram program(3, true, 4, 30);
  const std::string bytes = head(kJson64) + record(program.run(3000), {});
  const std::string events = converted(bytes, "jsonl");
  EXPECT_TRUE(converted(events, "trace64") == bytes);
  Opened opened(bytes, "trace64");
  const std::string minimal = saved(*opened.source, {.compat = false, .style = "minimal"});
  const ReadBack one(bytes), other(minimal);
  ASSERT_EQ(one.steps.size(), other.steps.size());
  for (size_t i = 0; i + 1 < one.steps.size(); ++i) {
    const Step &a = one.steps[i], &b = other.steps[i];
    ASSERT_EQ(a.after_known, b.after_known) << i;
    ASSERT_TRUE(std::ranges::equal(a.registers, b.registers, [](const auto& x, const auto& y) {
      return x.index == y.index && std::ranges::equal(x.value, y.value);
    })) << i;
  }
}

}  // namespace
}  // namespace tracewell::formats::test
