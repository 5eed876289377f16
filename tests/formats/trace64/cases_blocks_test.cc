// Conformance cases 11 to 28: blocks, threads, truncation.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/trace64/model.h"
#include "sanitized.h"

namespace tracewell::formats::test {
namespace {

RawBlock small(std::vector<std::pair<uint32_t, uint64_t>> words) {
  RawBlock block;
  block.words = std::move(words);
  return block;
}

TEST(Trace64, Case11OneFullDump) {
  ReadBack got(kHead64 + full_block(1000, {{0, 42}, {16, 0x401000}}).bytes());
  ASSERT_EQ(got.steps.size(), 1u);
  EXPECT_EQ(got.bad(), 0u);
  EXPECT_EQ(got.steps[0].pc, 0x401000u);
  EXPECT_EQ(got.value(got.steps[0].before, "rax"), 42u);
  EXPECT_EQ(got.value(got.steps[0].before, "xmm3"), 0u);
  EXPECT_FALSE(got.steps[0].after_known);
  EXPECT_EQ(got.tids[0], 1000u);
}

TEST(Trace64, Case12NoRegisterChanges) {
  ReadBack got(kHead64 + full_block(1, {{0, 1}, {16, 0x10}}).bytes() + small({}).bytes() +
               small({}).bytes() + small({{0, 7}}).bytes());
  ASSERT_EQ(got.steps.size(), 4u);
  for (const Step& step : got.steps) EXPECT_EQ(step.pc, 0x10u);
  EXPECT_TRUE(got.steps[1].registers.empty());
  EXPECT_TRUE(got.steps[1].after_known);
  EXPECT_EQ(got.value(got.steps[2].registers, "rax"), 7u);
}

TEST(Trace64, Case13PositionsInsideTheDump) {
  const std::string good = full_block(1, {{16, 0x10}}).bytes();
  EXPECT_EQ(ReadBack(kHead64 + good + small({{171, 5}}).bytes()).bad(), 0u);
  ReadBack beyond(kHead64 + good + small({{172, 5}}).bytes());
  EXPECT_EQ(beyond.steps.size(), 1u);
  EXPECT_EQ(beyond.problems("broken-block"), 1u);
  EXPECT_EQ(*beyond.opened.problems->kept()[0].offset, (kHead64 + good).size());
  std::string many = small({{0, 1}}).bytes();
  many[1] = static_cast<char>(173);
  ReadBack more(kHead64 + good + many);
  EXPECT_EQ(more.steps.size(), 1u);
  EXPECT_EQ(more.problems("broken-block"), 1u);
  ReadBack narrow(head(kJson32) + full_block(1, {{8, 0x10}}, false).bytes());
  EXPECT_EQ(narrow.steps.size(), 1u);
  EXPECT_EQ(narrow.bad(), 0u);
}

TEST(Trace64, Case14ThirtyTwoEntries) {
  const std::string good = full_block(1, {{16, 0x10}}).bytes();
  RawBlock block;
  for (uint64_t i = 0; i < 32; ++i) {
    block.entries.push_back({0x1000 + 64 * i, i, std::nullopt, 0});
    if (i % 3 == 0) block.entries.back().new_word = 1000 + i;
  }
  ReadBack got(kHead64 + good + block.bytes());
  ASSERT_EQ(got.steps.size(), 2u);
  ASSERT_EQ(got.steps[1].memory.size(), 32u);
  for (uint64_t i = 0; i < 32; ++i) {
    const auto& access = got.steps[1].memory[i];
    EXPECT_EQ(access.address, 0x1000 + 64 * i);
    EXPECT_EQ(load_uint(access.old_bytes.data(), 8, Endian::Little), i);
    if (i % 3 == 0) {
      EXPECT_EQ(load_uint(access.new_bytes.data(), 8, Endian::Little), 1000 + i);
    }
    else
      EXPECT_TRUE(access.new_bytes.empty());
  }
  std::string more = block.bytes();
  more[2] = 33;  // of which the last is not there
  const ReadBack cut(kHead64 + good + more);
  EXPECT_EQ(cut.steps.size(), 1u);
  EXPECT_EQ(cut.problems("block-cut"), 1u);
}

TEST(Trace64, Case15OpcodeLengthAndReservedFlags) {
  const std::string good = full_block(1, {{16, 0x10}}).bytes();
  RawBlock block;
  block.opcode = std::string(15, '\x66');
  EXPECT_EQ(ReadBack(kHead64 + good + block.bytes()).bad(), 0u);
  block.opcode = "";
  block.words = {{0, 1}};
  const ReadBack none(kHead64 + good + block.bytes());
  ASSERT_EQ(none.steps.size(), 2u);
  EXPECT_TRUE(none.steps[1].opcode.empty());
  EXPECT_EQ(none.problems("no-opcode"), 1u);
  EXPECT_EQ(none.bad(), 0u);
  block.opcode = "\x90";
  block.more_flags = 0x50;
  const std::string bytes = kHead64 + good + block.bytes();
  ReadBack odd(bytes);
  EXPECT_EQ(odd.steps.size(), 2u);
  EXPECT_EQ(odd.problems("reserved-flags"), 1u);
  EXPECT_EQ(odd.bad(), 1u);
  EXPECT_EQ(rewritten(bytes), bytes);
}

TEST(Trace64, Case16ReservedMemoryFlags) {
  const std::string good = full_block(1, {{16, 0x10}}).bytes();
  RawBlock block;
  block.entries = {{0x10, 1, std::nullopt, 0x02}, {0x80, 3, 4, 0x80}};
  const std::string bytes = kHead64 + good + block.bytes();
  ReadBack odd(bytes);
  ASSERT_EQ(odd.steps.size(), 2u);
  EXPECT_EQ(odd.problems("reserved-memory-flags"), 2u);
  EXPECT_TRUE(odd.steps[1].memory[0].new_bytes.empty());
  EXPECT_EQ(odd.steps[1].memory[1].new_bytes[0], 4u);
  EXPECT_EQ(rewritten(bytes), bytes);
}

TEST(Trace64, Case17UndefinedBlockTypes) {
  const std::string good = full_block(1, {{16, 0x10}}).bytes();
  for (const char type : {'\x01', '\x7f'}) {
    const std::string bad = std::string(1, type) + std::string(40, '\x11');
    ReadBack tail(kHead64 + good + bad);
    EXPECT_EQ(tail.steps.size(), 1u);
    EXPECT_EQ(tail.problems("broken-block"), 1u);
    EXPECT_EQ(tail.lost, std::vector<uint64_t>{1});
    EXPECT_EQ(*tail.opened.problems->kept()[0].offset, (kHead64 + good).size());
    ReadBack saved(kHead64 + good + bad + good + small({{16, 0x11}}).bytes());
    EXPECT_EQ(saved.steps.size(), 3u) << "reading goes on at the next full dump";
    EXPECT_EQ(saved.lost, std::vector<uint64_t>{1});
    EXPECT_FALSE(saved.steps[0].after_known);
  }
}

TEST(Trace64, Case18UserBlocks) {
  const std::string empty = "\x80" + le(0, 4);
  const std::string some = "\xff" + le(3, 4) + "abc";
  const std::string first = full_block(1, {{16, 0x10}}).bytes();
  const std::string second = small({{16, 0x10}}).bytes();
  const std::string bytes = kHead64 + some + first + empty + some + second + empty;
  ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.bad(), 0u);
  EXPECT_TRUE(got.steps[0].after_known);
  EXPECT_EQ(rewritten(bytes), bytes);
  ReadBack cut(kHead64 + first + second + "\x80" + le(100, 4) + "abc");
  EXPECT_EQ(cut.steps.size(), 2u);
  EXPECT_EQ(cut.problems("block-cut"), 1u);
}

TEST(Trace64, Case18UserBlocksThatCostMoreThanTheyHold) {
  std::string bytes = kHead64 + full_block(1, {{16, 0x10}}).bytes();
  for (int i = 0; i < 600000; ++i) bytes += "\x80" + le(0, 4);
  ReadBack got(bytes + small({{16, 0x10}}).bytes());
  EXPECT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.problems("large-user-blocks"), 1u);
  EXPECT_LT(got.opened.source->catalog().extras.size(), 550000u);
  EXPECT_GT(got.opened.source->catalog().extras.size(), 500000u);
}

TEST(Trace64, Case19FirstBlockIsNoDump) {
  ReadBack got(kHead64 + small({{0, 5}, {16, 0x10}}).bytes() + small({{1, 6}, {16, 0x11}}).bytes());
  ASSERT_EQ(got.steps.size(), 2u);
  EXPECT_EQ(got.value(got.steps[0].before, "rax"), 5u);
  EXPECT_FALSE(got.value(got.steps[0].before, "rcx"));
  EXPECT_EQ(got.value(got.steps[0].registers, "rcx"), 6u) << "is known from there on";
  StepIndex::Moment moment;
  ASSERT_TRUE(got.opened.source->steps()->state_before(0, moment).ok());
  const auto& layout = got.opened.source->catalog().registers;
  const auto index = static_cast<uint32_t>(layout.find("rcx") - layout.registers.data());
  EXPECT_FALSE(moment.registers.is_valid(index));
  EXPECT_EQ(moment.tid, 0u);
}

TEST(Trace64, Case20LongWithoutDumps) {
  std::string bytes = kHead64 + full_block(1, {{16, 0}}).bytes();
  for (uint64_t i = 1; i < 10000; ++i) bytes += small({{i % 8, i}, {16, i}}).bytes();
  ReadBack got(bytes);
  ASSERT_EQ(got.steps.size(), 10000u);
  StepIndex& index = *got.opened.source->steps();
  EXPECT_GT(index.keyframes().size(), 1u) << "checkpoints of our own";
  StepIndex::Moment moment;
  for (const uint64_t seq : {0u, 4096u, 4097u, 9999u}) {
    ASSERT_TRUE(index.state_before(seq, moment).ok());
    EXPECT_EQ(moment.pc, seq);
    EXPECT_EQ(load_uint(moment.registers.block.data(), 8, Endian::Little), seq / 8 * 8);
  }
}

TEST(Trace64, Case21TwoSessions) {
  RandomProgram first(1, true, 1, 0), second(2, true, 1, 0);
  const std::string bytes =
      kHead64 + record(first.run(301), {}) + record(second.run(700), {});
  ReadBack got(bytes);
  EXPECT_EQ(got.steps.size(), 999u);
  EXPECT_EQ(got.sessions, std::vector<uint64_t>{300});
  EXPECT_EQ(got.problems("session"), 1u);
  EXPECT_EQ(got.bad(), 0u);
  EXPECT_FALSE(got.steps[299].after_known);
  for (const auto& change : got.steps[299].registers) EXPECT_TRUE(change.value.empty());
  EXPECT_GT(got.steps[300].before.size(), 60u) << "everything is told anew";
  const auto sessions = got.opened.source->steps()->sessions();
  EXPECT_EQ(std::vector<uint64_t>(sessions.begin(), sessions.end()),
            (std::vector<uint64_t>{0, 300}));
  EXPECT_TRUE(rewritten(bytes) == bytes);
  EXPECT_TRUE(converted(converted(bytes, "jsonl"), "trace64") == bytes);
}

TEST(Trace64, Case22HiddenThreadIds) {
  for (uint32_t seed = 0; seed < 8; seed += tracewell::test::kEach) {
    const uint32_t percent = 8 * seed;
    for (const bool wide : {true, false}) {
      RandomProgram program(seed, wide, 3, percent);
      const auto moments = program.run(3000);
      const std::string json = head(wide ? kJson64 : kJson32);
      const std::string fixed = json + record(moments, {wide, false});
      const std::string faulty = json + record(moments, {wide, true});
      ReadBack good(fixed), bad(faulty);
      EXPECT_EQ(good.bad(), 0u);
      size_t hidden = 0;  // switches onto blocks that carry no flag of their own
      for (size_t i = 1; i + 1 < moments.size(); ++i)
        hidden += moments[i].tid != moments[i - 1].tid && moments[i].tid == moments[i + 1].tid &&
                  i % 512 != 0;
      EXPECT_EQ(bad.bad(), hidden);
      EXPECT_EQ(bad.tids, good.tids);
      EXPECT_TRUE(rewritten(faulty) == fixed) << seed << wide;
    }
  }
}

TEST(Trace64, Case23SwitchAtAFullDump) {
  for (const bool hides : {false, true}) {
    RandomProgram program(5, true, 1, 0);
    auto moments = program.run(1030);
    for (size_t i = 512; i < moments.size(); ++i) moments[i].tid = 8;
    moments[600].tid = 12;  // A, B, A
    ReadBack got(kHead64 + record(moments, {true, hides}));
    ASSERT_EQ(got.steps.size(), 1029u);
    EXPECT_EQ(got.bad(), hides ? 1u : 0u) << "only the way back from thread 12";
    EXPECT_EQ(got.tids[511], 4000u);
    EXPECT_EQ(got.tids[512], 8u);
    EXPECT_EQ(got.tids[600], 12u);
    EXPECT_EQ(got.tids[601], 8u);
    EXPECT_TRUE(got.steps[599].after_known);
    EXPECT_EQ(got.value(got.steps[599].registers, "rip"), moments[601].words[16]);
    EXPECT_TRUE(got.steps[601].before.empty());
    EXPECT_FALSE(got.steps[511].after_known) << "thread 4000 never goes on";
    EXPECT_FALSE(got.steps[600].after_known);
    EXPECT_TRUE(got.steps[601].after_known);
  }
}

TEST(Trace64, Case24ThreadIdsThatLookLikeOpcodes) {
  for (const uint32_t tid : {0x90909090u, 0x00010000u, 0x10101010u, 4u, 0x0100u}) {
    RandomProgram program(tid, true, 1, 0);
    auto moments = program.run(60);
    for (size_t i = 20; i < 40; ++i) moments[i].tid = tid;
    ReadBack got(kHead64 + record(moments, {true, true}));
    EXPECT_EQ(got.steps.size(), 59u);
    EXPECT_EQ(got.bad(), 2u) << tid;
    EXPECT_EQ(got.tids[25], tid);
    EXPECT_EQ(got.tids[45], 4000u);
  }
}

TEST(Trace64, Case24UnresolvedIdsAreReadAsWritten) {
  // Opcodes of four bytes that are the heads of such blocks: each fourth byte may begin one.
  const std::string any("\0\0\0\4", 4);
  std::string bytes = kHead64 + full_block(7, {{16, 0x10}}).bytes();
  const size_t start = bytes.size();
  for (int i = 0; i < 16; ++i) bytes += any;
  ReadBack got(bytes);
  EXPECT_EQ(got.steps.size(), 9u);
  EXPECT_EQ(got.problems("thread-id-unclear"), 1u);
  EXPECT_EQ(*got.opened.problems->kept()[0].offset, start);
  EXPECT_EQ(got.bad(), 0u);
  for (const uint64_t tid : got.tids) EXPECT_EQ(tid, 7u);
  EXPECT_EQ(rewritten(bytes).size(), bytes.size());
}

TEST(Trace64, Case25FullDumpWithHiddenThreadId) {
  RandomProgram program(9, true, 1, 0);
  const auto moments = program.run(100);
  std::string bytes = kHead64;
  for (size_t i = 0; i < 99; ++i) {
    RawBlock block;
    block.opcode = moments[i].opcode;
    const bool flushed = i == 50;
    if (i == 0 || flushed) block.tid = 4000;
    block.flagged = !flushed;
    for (uint32_t word = 0; word < 172; ++word)
      if (block.tid || moments[i].words[word] != moments[i - 1].words[word])
        block.words.emplace_back(word, moments[i].words[word]);
    bytes += block.bytes();
  }
  ReadBack got(bytes);
  EXPECT_EQ(got.steps.size(), 99u);
  EXPECT_EQ(got.problems("hidden-thread-id"), 1u);
  EXPECT_TRUE(got.sessions.empty());
  for (size_t i = 0; i < 99; ++i) EXPECT_EQ(got.steps[i].pc, moments[i].words[16]);
}

TEST(Trace64, Case25DumpWithHiddenIdBehindAnother) {
  // A switch, and at once an exception in the new thread: ids behind clear flags in two blocks.
  RawBlock announcing = small({{0, 1}});
  announcing.tid = 1;
  RawBlock switched = small({{15, 0x0100000000000000}});
  switched.tid = 8;
  switched.flagged = false;
  RawBlock flushed = full_block(8, {{16, 0x77001000}});
  flushed.flagged = false;
  ReadBack got(kHead64 + full_block(1, {{16, 0x401000}}).bytes() + announcing.bytes() +
               switched.bytes() + flushed.bytes() + small({{16, 0x77001001}}).bytes());
  ASSERT_EQ(got.steps.size(), 5u);
  EXPECT_EQ(got.problems("hidden-thread-id"), 2u);
  EXPECT_EQ(got.tids, (std::vector<uint64_t>{1, 1, 8, 8, 8}));
  EXPECT_EQ(got.steps[3].pc, 0x77001000u);
}

TEST(Trace64, Case26CutAtEveryByte) {
  RandomProgram program(3, true, 2, 10);
  const auto moments = program.run(40);
  const std::string bytes = kHead64 + record(moments, {});
  std::vector<size_t> ends;  // of the file, were it to end behind each block
  for (size_t blocks = 0; blocks < moments.size(); ++blocks)
    ends.push_back(kHead64.size() +
                   record({moments.begin(), moments.begin() + 1 + blocks}, {}).size());
  ReadBack whole(bytes);
  for (size_t size = ends[36]; size < bytes.size(); ++size) {
    ReadBack cut(bytes.substr(0, size));
    ASSERT_TRUE(cut.opened.source);
    const auto complete = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1;
    ASSERT_EQ(cut.steps.size(), static_cast<size_t>(complete)) << size;
    for (size_t i = 0; i < cut.steps.size(); ++i) {
      EXPECT_EQ(cut.steps[i].pc, whole.steps[i].pc);
      EXPECT_EQ(cut.tids[i], whole.tids[i]);
    }
    const size_t end = ends[static_cast<size_t>(complete)];
    ASSERT_EQ(cut.bad(), size == end ? 0u : 1u) << size;
    if (size != end) {
      EXPECT_EQ(*cut.opened.problems->kept().back().offset, end);
    }
  }
}

TEST(Trace64, Case27ZeroTail) {
  RandomProgram program(3, true, 1, 0);
  const std::string bytes = kHead64 + record(program.run(40), {});
  for (const size_t zeros : {1u, 3u, 8192u, 70000u}) {
    ReadBack got(bytes + std::string(zeros, '\0'));
    EXPECT_EQ(got.steps.size(), 39u);
    EXPECT_EQ(got.problems("zero-tail"), 1u) << zeros;
    EXPECT_EQ(got.bad(), 1u);
  }
}

TEST(Trace64, Case27ZerosInsideTheLastBlock) {
  // Cut inside the value of the program counter, and zeros from there on.
  const std::string whole = kHead64 + full_block(1, {{16, 0x401000}}).bytes() +
                            small({{0, 5}, {16, 0x401003}}).bytes();
  for (const size_t cut : {8u, 10u, 15u}) {
    ReadBack got(whole.substr(0, whole.size() - cut) + std::string(9000, '\0'));
    EXPECT_EQ(got.steps.size(), 1u) << cut << ": whether the rest of it is zero nobody knows";
    EXPECT_EQ(got.problems("block-cut"), 1u);
    EXPECT_EQ(got.problems("zero-tail"), 1u);
  }
}

TEST(Trace64, Case28TheFileGrows) {
  RandomProgram program(4, true, 2, 5);
  const std::string bytes = kHead64 + record(program.run(2000), {true, true});
  Opened opened(bytes.substr(0, 20000), "trace64");
  ASSERT_TRUE(opened.source);
  StepIndex& index = *opened.source->steps();
  const uint64_t early = index.count();
  auto other = index.open_at(early - 1);
  ASSERT_TRUE(other.ok());
  for (size_t size = 20000; size < bytes.size(); size += 9973) {
    write_file(opened.folder->file("input"), bytes.substr(0, size));
    ASSERT_TRUE(index.refresh().ok());
  }
  write_file(opened.folder->file("input"), bytes);
  EXPECT_TRUE(*index.refresh());
  EXPECT_FALSE(*index.refresh());
  EXPECT_EQ(index.count(), 1999u);
  EXPECT_EQ((*other)->steps()->count(), early) << "what others read stays as it was";
  EXPECT_TRUE(written(*opened.source, "trace64") == rewritten(bytes));
}

TEST(Trace64, Case28OnlyWhatWasAddedIsLookedThrough) {
  RandomProgram program(4, true, 1, 0);
  std::string bytes = kHead64 + record(program.run(3000), {});
  Opened opened(bytes.substr(0, bytes.size() / 2), "trace64");
  ASSERT_TRUE(opened.source);
  // Nobody would find a block in what was there before, were it read again.
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(kHead64.size()), bytes.size() / 3, '\x7f');
  write_file(opened.folder->file("input"), bytes);
  EXPECT_TRUE(*opened.source->steps()->refresh());
  EXPECT_EQ(opened.source->steps()->count(), 2999u);
}

}  // namespace
}  // namespace tracewell::formats::test
