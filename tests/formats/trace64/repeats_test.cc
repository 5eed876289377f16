// What instructions do beyond the entries that are recorded of them: repeated ones that were
// stepped over, far calls, large stores of state.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"

namespace tracewell::formats::test {
namespace {

using Access = Step::MemoryAccess;
constexpr uint32_t kCount = 1, kSource = 6, kTarget = 7;
constexpr uint64_t kHere = 0x401000, kDown = 0x400;
using Registers = std::map<uint32_t, uint64_t>;

/// One instruction, and what its thread's next step finds.
struct Story {
  Story(std::string opcode, Registers from, Registers to, std::vector<Entry> memory,
        bool is_wide = true, uint64_t goes_to = 0)
      : hex(std::move(opcode)),
        before(std::move(from)),
        behind(std::move(to)),
        entries(std::move(memory)),
        wide(is_wide),
        pc_behind(goes_to) {}

  std::string hex;
  Registers before, behind;
  std::vector<Entry> entries;
  bool wide;
  uint64_t pc_behind;           // 0: behind it
  uint32_t tid_behind = 1;
  bool ends = false;            // with the instruction
  std::vector<uint32_t> never;  // words that no block tells

  std::string bytes() const {
    const uint32_t pc = wide ? 16 : 8;
    RawBlock block;
    block.wide = wide;
    block.tid = 1;
    block.opcode = text_from_hex(hex).value();
    block.entries = entries;
    for (uint32_t word = 0; word < (wide ? 172u : 216u); ++word) {
      if (std::ranges::find(never, word) != never.end()) continue;
      const uint64_t value = before.contains(word) ? before.at(word) : 0;
      block.words.emplace_back(word, word == pc ? kHere : value);
    }
    RawBlock next;
    next.wide = wide;
    if (tid_behind != 1) next.tid = tid_behind;
    Registers listed = behind;
    listed[pc] = pc_behind ? pc_behind : kHere + block.opcode.size();
    next.words.assign(listed.begin(), listed.end());
    return head(wide ? kJson64 : kJson32) + block.bytes() + (ends ? "" : next.bytes());
  }
};

/// Its accesses without what is only near them.
struct Read {
  explicit Read(const Story& story) : got(story.bytes()) {
    EXPECT_EQ(got.steps.size(), story.ends ? 1u : 2u);
    for (const Access& one : got.steps.at(0).memory)
      if (one.kind != Access::Kind::Nearby) accesses.push_back(one);
    incomplete = got.steps.at(0).memory_incomplete;
    const ReadBack again(rewritten(story.bytes()));
    const Step& one = got.steps.at(0);
    const Step& other = again.steps.at(0);
    EXPECT_EQ(one.memory_incomplete, other.memory_incomplete);
    EXPECT_TRUE(std::ranges::equal(one.memory, other.memory, [](const Access& a, const Access& b) {
      return a.kind == b.kind && a.address == b.address && a.size == b.size &&
             std::ranges::equal(a.old_bytes, b.old_bytes) &&
             std::ranges::equal(a.new_bytes, b.new_bytes);
    })) << story.hex;
  }
  ReadBack got;
  std::vector<Access> accesses;
  bool incomplete = false;
};

void expect(const Access& access, Access::Kind kind, uint64_t address, uint64_t size, bool told) {
  EXPECT_EQ(access.kind, kind);
  EXPECT_EQ(access.address, address);
  EXPECT_EQ(access.size, size);
  EXPECT_EQ(access.old_bytes.empty(), !told);
  if (kind == Access::Kind::Write) {
    EXPECT_EQ(access.new_bytes.empty(), !told);
  }
}

TEST(Trace64Repeats, AStoreThatIsSteppedOverWritesAllOfIt) {
  // rep stosq
  Story story{"f348ab", {{kCount, 6}, {kTarget, 0x9000}}, {{kCount, 0}, {kTarget, 0x9030}},
              {{0x9000, 1, 2, 0}}};
  const Read got(story);
  ASSERT_EQ(got.accesses.size(), 2u);
  expect(got.accesses[0], Access::Kind::Write, 0x9000, 8, true);
  expect(got.accesses[1], Access::Kind::Write, 0x9008, 40, false);
  EXPECT_FALSE(got.incomplete) << "how far it went is known";
  // Stopped within, as by a breakpoint on what it writes.
  story.behind = {{kCount, 2}, {kTarget, 0x9020}};
  story.pc_behind = kHere;
  const Read stopped(story);
  ASSERT_EQ(stopped.accesses.size(), 2u);
  expect(stopped.accesses[1], Access::Kind::Write, 0x9008, 24, false);
  EXPECT_FALSE(stopped.incomplete);
  // One at a time.
  story.behind = {{kCount, 5}, {kTarget, 0x9008}};
  const Read one(story);
  ASSERT_EQ(one.accesses.size(), 1u);
  expect(one.accesses[0], Access::Kind::Write, 0x9000, 8, true);
  EXPECT_FALSE(one.incomplete);
}

TEST(Trace64Repeats, WhatTheEntryHoldsOfTheOthersIsTold) {
  // rep stosb: all of three bytes are in the entry, and eight of eleven.
  Story story{"f3aa", {{kCount, 3}, {kTarget, 0x9000}}, {{kCount, 0}, {kTarget, 0x9003}},
              {{0x9000, 0x0807060504030201, 0x0807060504aaaaaa, 0}}};
  const Read few(story);
  ASSERT_EQ(few.accesses.size(), 1u);
  expect(few.accesses[0], Access::Kind::Write, 0x9000, 3, true);
  EXPECT_EQ(to_hex(few.accesses[0].new_bytes), "aaaaaa");
  ASSERT_EQ(few.got.steps[0].memory.size(), 2u);
  EXPECT_EQ(few.got.steps[0].memory[1].size, 5u) << "and beside it";
  story.before[kCount] = 11;
  story.behind[kTarget] = 0x900b;
  story.entries[0].new_word = 0xaaaaaaaaaaaaaaaa;
  const Read more(story);
  ASSERT_EQ(more.accesses.size(), 2u);
  expect(more.accesses[0], Access::Kind::Write, 0x9000, 8, true);
  expect(more.accesses[1], Access::Kind::Write, 0x9008, 3, false);
}

TEST(Trace64Repeats, AddressesMayBecomeSmaller) {
  for (const bool wide : {true, false}) {
    // rep stosd
    const Story story{"f3ab",
                      {{kCount, 4}, {kTarget, 0x9000}, {wide ? 17u : 9u, kDown}},
                      {{kCount, 0}, {kTarget, 0x8ff0}},
                      {{0x9000, 1, 2, 0}},
                      wide};
    const Read got(story);
    ASSERT_EQ(got.accesses.size(), 2u);
    expect(got.accesses[0], Access::Kind::Write, 0x9000, 4, true);
    expect(got.accesses[1], Access::Kind::Write, 0x8ff4, 12, false);
    EXPECT_FALSE(got.incomplete);
  }
}

TEST(Trace64Repeats, AMoveReadsAndWrites) {
  // rep movsd; also with the other prefix, which repeats it all the same.
  for (const char* hex : {"f3a5", "f2a5"}) {
    const Story story{hex,
                      {{kCount, 3}, {kSource, 0x1000}, {kTarget, 0x9000}},
                      {{kCount, 0}, {kSource, 0x100c}, {kTarget, 0x900c}},
                      {{0x9000, 1, 2, 0}, {0x1000, 2, std::nullopt, 0}},
                      false};
    const Read got(story);
    ASSERT_EQ(got.accesses.size(), 4u);
    expect(got.accesses[0], Access::Kind::Write, 0x9000, 4, true);
    expect(got.accesses[1], Access::Kind::Write, 0x9004, 8, false);
    expect(got.accesses[2], Access::Kind::Read, 0x1000, 4, true);
    expect(got.accesses[3], Access::Kind::Read, 0x1004, 8, false);
    EXPECT_FALSE(got.incomplete);
  }
  // repne scasb, which found it before its count was zero: it reads.
  const Read scan({"f2ae", {{kCount, 100}, {kTarget, 0x9000}}, {{kCount, 80}, {kTarget, 0x9014}},
                   {{0x9000, 1, std::nullopt, 0}}});
  ASSERT_EQ(scan.accesses.size(), 2u);
  expect(scan.accesses[1], Access::Kind::Read, 0x9008, 12, false);
}

TEST(Trace64Repeats, AnyOfItsRegistersWillDo) {
  const std::vector<Entry> entries = {{0x9000, 1, 2, 0}};
  // Where it was is not known, but for the entry.
  Story story{"f348ab", {{kCount, 6}}, {{kCount, 0}}, entries};
  story.never = {kTarget};
  const Read counted(story);
  ASSERT_EQ(counted.accesses.size(), 2u);
  expect(counted.accesses[1], Access::Kind::Write, 0x9008, 40, false);
  EXPECT_FALSE(counted.incomplete);
  // Nor in which direction it went.
  story.never = {kTarget, 17};
  const Read lost(story);
  ASSERT_EQ(lost.accesses.size(), 1u);
  EXPECT_TRUE(lost.incomplete);
  // How far it went shows how often it did.
  story.before = {{kTarget, 0x9000}};
  story.behind = {{kTarget, 0x8fe0}};
  story.never = {kCount, 17};
  const Read moved(story);
  ASSERT_EQ(moved.accesses.size(), 2u);
  expect(moved.accesses[1], Access::Kind::Write, 0x8fe8, 24, false);
  EXPECT_FALSE(moved.incomplete);
}

TEST(Trace64Repeats, WhatIsNotKnownIsIncomplete) {
  const Story whole{"f348ab", {{kCount, 6}, {kTarget, 0x9000}}, {{kCount, 0}, {kTarget, 0x9030}},
                    {{0x9000, 1, 2, 0}}};
  const auto incomplete = [](const Story& story) {
    const Read got(story);
    EXPECT_EQ(got.accesses.size(), 1u);
    return got.incomplete;
  };
  Story story = whole;
  story.behind[kTarget] = 0x9028;  // five elements of six
  EXPECT_TRUE(incomplete(story));
  story.behind[kTarget] = 0x9031;
  EXPECT_TRUE(incomplete(story));
  story = whole;
  story.before[17] = kDown;
  EXPECT_TRUE(incomplete(story));
  story = whole;
  story.behind[kCount] = 7;
  EXPECT_TRUE(incomplete(story));
  // Another thread's step comes next, or none.
  story = whole;
  story.tid_behind = 2;
  EXPECT_TRUE(incomplete(story));
  story.ends = true;
  EXPECT_TRUE(incomplete(story));
  story.before[kCount] = 1;
  EXPECT_FALSE(incomplete(story)) << "there is but one";
  story = whole;
  story.hex = "f348ad";  // rep lodsq
  story.before = {{kCount, 6}, {kSource, 0x9000}};
  story.ends = true;
  EXPECT_FALSE(incomplete(story)) << "it leaves all as it was";
  // A fault: the handler's registers say nothing of it.
  story = whole;
  story.pc_behind = 0x77001234;
  EXPECT_TRUE(incomplete(story));
}

TEST(Trace64Repeats, AFewBytesDoNotClaimAnyLength) {
  const uint64_t count = uint64_t{1} << 40;
  Story story{"f348ab",
              {{kCount, count}, {kTarget, 0x9000}},
              {{kCount, 0}, {kTarget, 0x9000 + 8 * count}},
              {{0x9000, 1, 2, 0}}};
  const Read up(story);
  ASSERT_EQ(up.accesses.size(), 2u);
  expect(up.accesses[1], Access::Kind::Write, 0x9008, 16384, false);
  EXPECT_TRUE(up.incomplete);
  story.before = {{kCount, count}, {kTarget, 16 * count}, {17, kDown}};
  story.behind[kTarget] = 8 * count;
  story.entries[0].address = 16 * count;
  const Read down(story);
  ASSERT_EQ(down.accesses.size(), 2u);
  expect(down.accesses[1], Access::Kind::Write, 16 * count - 16384, 16384, false);
  EXPECT_TRUE(down.incomplete);
  // Round the end of all addresses; with address size 32 that is nearer.
  story = {"67f348ab",
           {{kCount, uint64_t{1} << 32 | 4}, {kTarget, 0xfffffff0}},
           {{kCount, 0}, {kTarget, 0x10}},
           {{0xfffffff0, 1, 2, 0}}};
  const Read round(story);
  ASSERT_EQ(round.accesses.size(), 1u);
  EXPECT_TRUE(round.incomplete);
  story.before = {{kCount, uint64_t{1} << 32 | 2}, {kTarget, 0xfffffff0}};
  story.behind[kTarget] = 0;
  const Read last(story);
  ASSERT_EQ(last.accesses.size(), 2u);
  expect(last.accesses[1], Access::Kind::Write, 0xfffffff8, 8, false);
  EXPECT_FALSE(last.incomplete);
}

TEST(Trace64Repeats, StepsThatAreLeftOutDoNotBecomeOneStep) {
  // Four times one element. Without those between, the count falls by three in what looks like one.
  std::string bytes = head(kJson64);
  for (uint64_t i = 0; i < 5; ++i) {
    RawBlock block = full_block(1, {{kCount, 4 - i}, {kTarget, 0x9000 + 8 * i}, {16, kHere}});
    block.opcode = text_from_hex("f348ab").value();
    block.entries = {{0x9000 + 8 * i, i, 7 + i, 0}};
    bytes += block.bytes();
  }
  const std::string lines = converted(bytes, "jsonl");
  std::string few;
  size_t number = 0;
  for (size_t at = 0; at < lines.size(); ++number) {
    const size_t end = lines.find('\n', at) + 1;
    if (number != 2 && number != 3) few += lines.substr(at, end - at);
    at = end;
  }
  Opened opened(few, "jsonl");
  ASSERT_TRUE(opened.source) << opened.error;
  const ReadBack got(written(*opened.source, "trace64"));
  ASSERT_EQ(got.steps.size(), 3u);
  ASSERT_EQ(got.steps[0].memory.size(), 1u);
  EXPECT_EQ(got.steps[0].memory[0].size, 8u);
  EXPECT_FALSE(got.steps[0].memory_incomplete);
}

TEST(Trace64Repeats, AFarCallWritesBelowTheStackPointer) {
  // call 0x33:0, as recorders see it that know hidden operands: what stands at [esp].
  const uint64_t esp = 0x1000;
  const Read at({"9a000000003300", {{4, esp}}, {{4, esp - 8}},
                 {{esp, 5, std::nullopt, 0}, {esp + 4, 6, std::nullopt, 0}}, false, 0x500});
  ASSERT_EQ(at.accesses.size(), 1u);
  expect(at.accesses[0], Access::Kind::Write, esp - 8, 8, false);
  EXPECT_TRUE(at.incomplete);
  EXPECT_EQ(at.got.steps[0].memory.size(), 2u) << "what stands there is known all the same";
  // By those that do not: the upper slot.
  const Read upper({"9a000000003300", {{4, esp}}, {{4, esp - 8}}, {{esp - 4, 5, 0x23, 0}}, false,
                    0x500});
  ASSERT_EQ(upper.accesses.size(), 2u);
  EXPECT_EQ(upper.accesses[0].address, esp - 4);
  EXPECT_EQ(to_hex(upper.accesses[0].new_bytes), "23000000");
  expect(upper.accesses[1], Access::Kind::Write, esp - 8, 4, false);
}

TEST(Trace64Repeats, LargeStoresOfStateReachBeyondTheirEntries) {
  const Read state({"0fae00", {{0, 0x4000}}, {}, {{0x4000, 0, 0x37f, 0}}});  // fxsave [rax]
  ASSERT_EQ(state.accesses.size(), 2u);
  EXPECT_EQ(state.accesses[0].size, 8u);
  expect(state.accesses[1], Access::Kind::Write, 0x4008, 504, false);
  EXPECT_TRUE(state.incomplete);
  // tilestored [rax + rcx], tmm0: nobody knows how much that is.
  const Read tile({"c4e27a4b0408", {{0, 0x4000}}, {}, {{0x4000, 0, 0x37f, 0}}});
  EXPECT_TRUE(tile.accesses.empty());
  EXPECT_TRUE(tile.incomplete);
}

}  // namespace
}  // namespace tracewell::formats::test
