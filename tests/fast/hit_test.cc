// What a hit collects, and that it leaves everything as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <sys/prctl.h>
#include <unistd.h>

#include "fast/this_processor.h"
#include "fast/thunk.h"

namespace tracewell::fast {
namespace {

using Kind = RecordBlock::Kind;

std::vector<RecordBlock> blocks_of(const HitsHere::Record& record) {
  std::vector<RecordBlock> out;
  RecordBlocks blocks(record.blocks);
  while (const auto block = blocks.next()) out.push_back(*block);
  EXPECT_FALSE(blocks.bad());
  return out;
}

Registers random_registers(std::mt19937_64& random) {
  Registers registers;
  for (uint64_t& one : registers.general) one = random();
  // OF SF ZF AF PF CF, and DF now and then
  registers.flags = (random() & 0x8d5) | 0x202 | (random() % 4 == 0 ? 0x400 : 0);
  for (uint64_t& one : registers.vector) one = random();
  return registers;
}

TEST(FastHit, AnEmptyRecordHasPlanTimeAndThread) {
  HitsHere here;
  const uint64_t body = here.add(7, {});
  std::mt19937_64 random(1);
  const Registers before = random_registers(random);
  const uint64_t begin = __builtin_ia32_rdtsc();
  EXPECT_EQ(call_body(body, before), before);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].plan, 7U);
  EXPECT_EQ(records[0].tid, static_cast<uint32_t>(gettid()));
  EXPECT_GE(records[0].ticks, begin);
  EXPECT_LE(records[0].ticks, __builtin_ia32_rdtsc());
  EXPECT_TRUE(records[0].blocks.empty());
  EXPECT_EQ(here.lost(), 0U);
}

TEST(FastHit, RegistersAndFlagsAreThoseOfTheProgramAndStay) {
  HitsHere here;
  const uint64_t body = here.add(1, {{}}, {}, 4096, 0x1234567890);
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    const Registers before = random_registers(random);
    const Registers after = call_body(body, before);
    ASSERT_EQ(after, before) << i;
    const auto records = here.records();
    ASSERT_EQ(records.size(), 1U);
    const auto blocks = blocks_of(records[0]);
    ASSERT_EQ(blocks.size(), 1U);
    const tracewell_general& got = blocks[0].general;
    EXPECT_EQ(got.rax, before.general[0]);
    EXPECT_EQ(got.rcx, before.general[1]);
    EXPECT_EQ(got.rdx, before.general[2]);
    EXPECT_EQ(got.rbx, before.general[3]);
    EXPECT_EQ(got.rsp, after.stack_pointer);
    EXPECT_EQ(got.rbp, before.general[5]);
    EXPECT_EQ(got.rsi, before.general[6]);
    EXPECT_EQ(got.rdi, before.general[7]);
    EXPECT_EQ(got.r8, before.general[8]);
    EXPECT_EQ(got.r15, before.general[15]);
    EXPECT_EQ(got.eflags, before.flags);
    EXPECT_EQ(got.rip, 0x1234567890U);
    EXPECT_EQ(got.fs_base, reinterpret_cast<uint64_t>(__builtin_thread_pointer()));
    EXPECT_EQ(got.cs, 0x33);
    EXPECT_EQ(got.ss, 0x2b);
  }
}

// Agent bytecode: GDB manual, "Bytecode Descriptions".
constexpr uint8_t kAdd = 0x02, kTrace = 0x0c, kEqual = 0x13, kRef64 = 0x1a, kConst8 = 0x22,
                  kConst64 = 0x25, kReg = 0x26, kEnd = 0x27, kDup = 0x28, kGetv = 0x2c,
                  kSetv = 0x2d, kTracev = 0x2e, kTracenz = 0x2f;

using Code = std::vector<uint8_t>;
Code operator+(Code left, const Code& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
Code reg(uint8_t number) { return {kReg, 0, number}; }
Code number(uint64_t value) {
  Code out = {kConst64};
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<uint8_t>(value >> shift));
  return out;
}
uint64_t address_of(const void* object) { return reinterpret_cast<uint64_t>(object); }

TEST(FastHit, AConditionThatDoesNotHoldLeavesNoTrace) {
  HitsHere here;
  std::mt19937_64 random(3);
  for (uint8_t which = 0; which <= axjit::kEflags; ++which) {
    const Code is_magic = reg(which) + number(0x1122334455) + Code{kEqual, kEnd};
    const uint64_t body = here.add(which, {{}}, is_magic, 4096, 0x1122334455);
    for (int i = 0; i < 20; ++i) {
      Registers before = random_registers(random);
      ASSERT_EQ(call_body(body, before), before) << int{which};
      const bool always = which == axjit::kRip;
      ASSERT_EQ(here.records().size(), always ? 1U : 0U) << int{which};
      if (which >= 16 || which == 4) continue;
      before.general[which] = 0x1122334455;
      ASSERT_EQ(call_body(body, before), before);
      const auto records = here.records();
      ASSERT_EQ(records.size(), 1U);
      const auto blocks = blocks_of(records[0]);
      ASSERT_EQ(blocks.size(), 1U);
      EXPECT_EQ(blocks[0].general.eflags, before.flags);
      EXPECT_EQ(blocks[0].general.rcx, before.general[1]);
      EXPECT_EQ(blocks[0].general.r11, before.general[11]);
    }
  }
  EXPECT_EQ(here.lost(), 0U);
}

TEST(FastHit, AConditionReadsTheFlags) {
  HitsHere here;
  const Code flags_are = reg(axjit::kEflags) + number(0x2d7) + Code{kEqual, kEnd};
  const uint64_t body = here.add(1, {}, flags_are);
  for (const uint64_t flags : {0x202ULL, 0x2d7ULL, 0xad7ULL, 0x6d7ULL}) {
    Registers before;
    before.flags = flags;
    EXPECT_EQ(call_body(body, before), before);
    EXPECT_EQ(here.records().size(), flags == 0x2d7 ? 1U : 0U) << flags;
  }
}

/// Readable up to `end`, and nothing behind that.
struct Edge {
  std::span<uint8_t> two = pages(8192, PROT_READ | PROT_WRITE);
  uint8_t* end = two.data() + 4096;
  Edge() {
    for (int i = 0; i < 4096; ++i) two[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 7 + 1);
    mprotect(end, 4096, PROT_NONE);
  }
  ~Edge() { munmap(two.data(), two.size()); }
};

/// By TRACEWELL_READS_….
class FastMemory : public testing::TestWithParam<uint32_t> {
 protected:
  static bool loads() { return GetParam() == TRACEWELL_READS_LOAD; }
};

TEST_P(FastMemory, AConditionThatFaultsIsRecordedAsFault) {
  HitsHere here;
  here.read_by(GetParam());
  const uint64_t body = here.add(1, {{}}, reg(6) + Code{kRef64, kEnd});
  Registers before;
  before.general[6] = 0x1000;
  const uint64_t faults = LoadTable::faults;
  EXPECT_EQ(call_body(body, before), before);
  EXPECT_EQ(LoadTable::faults > faults, loads());
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  const auto blocks = blocks_of(records[0]);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].kind, Kind::Fault);
  EXPECT_EQ(blocks[0].number, 9U);
  EXPECT_EQ(blocks[0].address, 0x1000U);
}

/// The record for its fault is larger than what was reserved, and there is no room for that.
TEST_P(FastMemory, AFaultAtAFullRingIsOneLostHit) {
  HitsHere here({.rings = 1, .ring_bytes = 4096});
  here.read_by(GetParam());
  const uint64_t plain = here.add(1, {}, {}, TRACEWELL_CELL);
  const uint64_t faulty = here.add(2, {}, reg(6) + Code{kRef64, kEnd}, TRACEWELL_CELL);
  Registers registers;
  registers.general[6] = 0x1000;
  constexpr size_t kRoom = 4096 / TRACEWELL_CELL;
  for (size_t i = 0; i + 1 < kRoom; ++i) call_body(plain, registers);
  call_body(faulty, registers);
  const auto records = here.records();
  EXPECT_EQ(records.size(), kRoom - 1);
  for (const auto& record : records) EXPECT_EQ(record.plan, 1U);
  EXPECT_EQ(here.lost(), 1U);
  call_body(plain, registers);
  EXPECT_EQ(here.records().size(), 1U) << "the ring goes on";
}

TEST_P(FastMemory, IsReadUpToWhereItCannotBe) {
  HitsHere here;
  const Edge edge;
  here.read_by(GetParam());
  for (const uint64_t size : {1, 7, 8, 9, 63, 256, 257, 1000, 4000})
    for (const int64_t beyond : {-300, -1, 0, 1, 5, 8, 64, 257}) {
      const uint8_t* const from = edge.end - size + beyond;
      if (from < edge.two.data() || from >= edge.end) continue;
      const uint64_t body = here.add(
          3, {{.kind = TRACEWELL_STEP_MEMORY, .base = 6, .value = uint64_t(-16), .bytes = size},
              {.kind = TRACEWELL_STEP_GENERAL}},
          {}, 8192);
      Registers before;
      before.flags |= 0x400;
      before.general[6] = address_of(from) + 16;
      ASSERT_EQ(call_body(body, before), before);
      const auto records = here.records();
      ASSERT_EQ(records.size(), 1U);
      const auto blocks = blocks_of(records[0]);
      const uint64_t whole = beyond > 0 ? size - static_cast<uint64_t>(beyond) : size;
      ASSERT_EQ(blocks.size(), beyond > 0 ? 3U : 2U);
      EXPECT_EQ(blocks[0].address, address_of(from));
      EXPECT_TRUE(std::ranges::equal(blocks[0].bytes, Bytes(from, whole))) << size << " " << beyond;
      EXPECT_EQ(blocks[1].kind, Kind::General);
      if (beyond > 0) {
        EXPECT_EQ(blocks[2].kind, Kind::Fault);
        EXPECT_EQ(blocks[2].address, address_of(edge.end));
      }
    }
  EXPECT_EQ(here.lost(), 0U);
}

TEST_P(FastMemory, TextsEndWithTheirZeroByte) {
  HitsHere here;
  const Edge edge;
  here.read_by(GetParam());
  std::memcpy(edge.end - 6, "hello", 6);
  std::memcpy(edge.end - 20, "no end here", 11);
  const auto collect = [&](const void* from, uint8_t max) {
    const uint64_t body =
        here.add(1, {{.kind = TRACEWELL_STEP_EXPRESSION,
                      .code = number(address_of(from)) + Code{kConst8, max, kTracenz, kEnd}}});
    EXPECT_EQ(call_body(body, {}), Registers{});
    const auto records = here.records();
    std::string text;
    for (const auto& record : records)
      for (const RecordBlock& block : blocks_of(record))
        text += block.kind == Kind::Fault ? "!" : std::string(as_text(block.bytes));
    return text;
  };
  EXPECT_EQ(collect(edge.end - 6, 100), std::string("hello\0", 6));
  EXPECT_EQ(collect(edge.end - 6, 6), std::string("hello\0", 6));
  EXPECT_EQ(collect(edge.end - 6, 3), "hel");
  edge.end[-1] = 'X';
  EXPECT_EQ(collect(edge.end - 6, 100), "helloX!");
}

/// Where nothing but memory is collected, code is made for that.
TEST_P(FastMemory, AloneIsReadAsAmongOthers) {
  HitsHere here;
  const Edge edge;
  here.read_by(GetParam());
  for (const uint64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 31, 64, 100})
    for (const int64_t beyond : {-100, -1, 0, 1, 2, 3, 4, 7, 8, 15}) {
      const uint8_t* const from = edge.end - size + beyond;
      if (from >= edge.end) continue;
      const uint64_t body = here.add(
          3, {{.kind = TRACEWELL_STEP_MEMORY, .base = 6, .value = uint64_t(-16), .bytes = size},
              {.kind = TRACEWELL_STEP_MEMORY, .value = address_of(edge.end - 8), .bytes = 8},
              {.kind = TRACEWELL_STEP_MEMORY, .base = TRACEWELL_REGISTER_RIP, .value = 5,
               .bytes = 2}},
          {}, (sizeof(tracewell_frame_record) + 3 * 11 + size + 10 + 31) / 32 * 32,
          address_of(edge.two.data()));
      Registers before;
      before.flags |= 0x400;
      before.general[6] = address_of(from) + 16;
      ASSERT_EQ(call_body(body, before), before);
      const auto records = here.records();
      ASSERT_EQ(records.size(), 1U);
      const auto blocks = blocks_of(records.back());
      const uint64_t whole = beyond > 0 ? size - static_cast<uint64_t>(beyond) : size;
      ASSERT_EQ(blocks.size(), beyond > 0 ? 4U : 3U) << size << " " << beyond;
      EXPECT_EQ(blocks[0].address, address_of(from));
      EXPECT_TRUE(std::ranges::equal(blocks[0].bytes, Bytes(from, whole))) << size << " " << beyond;
      EXPECT_TRUE(std::ranges::equal(blocks[1].bytes, Bytes(edge.end - 8, 8)));
      EXPECT_EQ(blocks[2].address, address_of(edge.two.data()) + 5);
      EXPECT_TRUE(std::ranges::equal(blocks[2].bytes, Bytes(edge.two.data() + 5, 2)));
      if (beyond <= 0) continue;
      EXPECT_EQ(blocks[3].address, address_of(edge.end));
    }
  EXPECT_EQ(here.lost(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, FastMemory,
                         testing::Values(TRACEWELL_READS_LOAD, TRACEWELL_READS_CALL,
                                         TRACEWELL_READS_KNOWN));

TEST(FastHit, ExpressionsCollectMemoryAndVariables) {
  HitsHere here;
  static const uint64_t value = 0x123456789abcdef0;
  here.area().variables[5] = 40;
  const Code code = Code{kGetv, 0, 5, kConst8, 2, kAdd, kSetv, 0, 5, kTracev, 0, 5} + reg(7) +
                    Code{kConst8, 8, kTrace} + reg(7) + Code{kRef64, kDup, kEnd};
  const uint64_t body = here.add(9, {{.kind = TRACEWELL_STEP_EXPRESSION, .code = code}});
  Registers before;
  before.general[7] = address_of(&value);
  EXPECT_EQ(call_body(body, before), before);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  const auto blocks = blocks_of(records[0]);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].kind, Kind::Variable);
  EXPECT_EQ(blocks[0].number, 5U);
  EXPECT_EQ(blocks[0].value, 42);
  EXPECT_EQ(here.area().variables[5], 42U);
  EXPECT_EQ(blocks[1].address, address_of(&value));
  EXPECT_EQ(load_uint(blocks[1].bytes.data(), 8, Endian::Little), value);
}

/// Where the program has asked for faults at addresses that are no multiples (EFLAGS.AC).
TEST(FastHit, AConditionReadsMemoryUnderAlignmentChecks) {
  HitsHere here;
  static uint8_t memory[16];
  const uint64_t odd = address_of(memory) / 8 * 8 + 3;
  for (const bool reads_flags : {false, true}) {
    const Code flags = reads_flags ? reg(axjit::kEflags) + number(0x40602) + Code{kEqual}
                                   : number(1);
    const Code is_one = number(odd) + Code{kRef64} + number(1) + Code{kEqual} + flags +
                        Code{kEqual, kEnd};
    const uint64_t body = here.add(1, {{}}, is_one);
    Registers before;
    before.flags = 0x40602;  // and DF
    for (const uint64_t value : {0, 1, 0}) {
      std::memcpy(reinterpret_cast<void*>(odd), &value, sizeof value);
      EXPECT_EQ(call_body(body, before), before);
      const auto records = here.records();
      ASSERT_EQ(records.size(), value);
      if (value == 0) continue;
      const auto blocks = blocks_of(records[0]);
      ASSERT_EQ(blocks.size(), 1U);
      ASSERT_EQ(blocks[0].kind, Kind::General);
      EXPECT_EQ(blocks[0].general.eflags, before.flags);
    }
  }
}

/// The counter, too, is a load that may fault.
TEST(FastHit, WhoMayNotReadTheCounterHasTheTracersTime) {
  if (!has_own_time_stamp_counter()) GTEST_SKIP() << "RDTSCP does not tell this processor's number";
  HitsHere here;
  here.area().clock_ticks = 4711;
  const Code processor = {kTracev, HitsHere::kProcessor >> 8, HitsHere::kProcessor & 0xff, kEnd};
  const uint64_t body =
      here.add(7, {{.kind = TRACEWELL_STEP_EXPRESSION, .code = processor}});
  ASSERT_EQ(call_body(body, {}), Registers{});
  EXPECT_EQ(here.area().ticks_denied, 0U);
  ASSERT_EQ(prctl(PR_SET_TSC, PR_TSC_SIGSEGV), 0);
  const Registers after = call_body(body, {});
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
  EXPECT_EQ(after, Registers{});
  EXPECT_EQ(here.area().ticks_denied, 1U);
  const auto records = here.records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_NE(records[0].ticks, 4711U);
  EXPECT_EQ(records[1].ticks, 4711U);
  EXPECT_LT(blocks_of(records[1]).at(0).value, sysconf(_SC_NPROCESSORS_CONF));
}

TEST(FastHit, BuiltinVariables) {
  if (!has_own_time_stamp_counter()) GTEST_SKIP() << "RDTSCP does not tell this processor's number";
  HitsHere here;
  tracewell_area& area = here.area();
  // A clock of which each tick is four microseconds.
  area.clock_us = 1'700'000'000'000'000;
  area.clock_ticks = __builtin_ia32_rdtsc();
  area.clock_rate = uint64_t{4} << 32;
  const auto get = [](uint32_t number) {
    return Code{kGetv, uint8_t(number >> 8), uint8_t(number)};
  };
  const auto record = [](uint32_t number) {
    return Code{kTracev, uint8_t(number >> 8), uint8_t(number)};
  };
  const Code is_me = get(HitsHere::kThread) + number(static_cast<uint64_t>(gettid())) +
                     Code{kEqual, kEnd};
  const Code all = record(HitsHere::kTimestamp) + record(HitsHere::kThread) +
                   record(HitsHere::kProcessor) + Code{kEnd};
  const uint64_t body =
      here.add(9, {{.kind = TRACEWELL_STEP_EXPRESSION, .code = all}}, is_me);
  const uint64_t begin = __builtin_ia32_rdtsc();
  EXPECT_EQ(call_body(body, {}), Registers{});
  const uint64_t end = __builtin_ia32_rdtsc();
  const auto records = here.records();
  ASSERT_EQ(records.size(), 1U);
  const auto blocks = blocks_of(records[0]);
  ASSERT_EQ(blocks.size(), 3U);
  const auto us = [&](uint64_t ticks) {
    return static_cast<int64_t>(area.clock_us + 4 * (ticks - area.clock_ticks));
  };
  EXPECT_GE(blocks[0].value, us(begin));
  EXPECT_LE(blocks[0].value, us(end));
  EXPECT_EQ(blocks[1].value, gettid());
  EXPECT_GE(blocks[2].value, 0);
  EXPECT_LT(blocks[2].value, sysconf(_SC_NPROCESSORS_CONF));
}

TEST(FastHit, VectorsAreStoredAsTheProcessorHasThem) {
  HitsHere here;
  constexpr uint64_t kX87AndSse = 3, kBytes = 576;
  const uint64_t body = here.add(
      1, {{.kind = TRACEWELL_STEP_VECTOR, .value = kX87AndSse, .bytes = kBytes}});
  std::mt19937_64 random(4);
  for (int i = 0; i < 50; ++i) {
    const Registers before = random_registers(random);
    ASSERT_EQ(call_body(body, before), before);
    const auto records = here.records();
    ASSERT_EQ(records.size(), 1U);
    const auto blocks = blocks_of(records[0]);
    ASSERT_EQ(blocks.size(), 1U);
    ASSERT_EQ(blocks[0].kind, Kind::Vector);
    ASSERT_EQ(blocks[0].bytes.size(), kBytes);
    EXPECT_EQ(std::memcmp(blocks[0].bytes.data() + 160, before.vector, sizeof before.vector), 0);
    // XCOMP_BV: compacted, and which components have room (SDM volume 1, 13.4.2).
    EXPECT_EQ(load_uint(blocks[0].bytes.data() + 520, 8, Endian::Little),
              uint64_t{1} << 63 | kX87AndSse);
    EXPECT_EQ(load_uint(blocks[0].bytes.data() + 528, 8, Endian::Little), 0U);
  }
}

TEST(FastHit, ARecordThatIsTooLargeIsCounted) {
  HitsHere here;
  static const char text[300] = "more than there is room for";
  const uint64_t body = here.add(
      1, {{.kind = TRACEWELL_STEP_MEMORY, .value = address_of(text), .bytes = 300}}, {}, 64);
  EXPECT_EQ(call_body(body, {}), Registers{});
  EXPECT_TRUE(here.records().empty());
  EXPECT_EQ(here.lost(), 1U);
}

TEST(FastHit, AClosedAreaTakesNothing) {
  HitsHere here;
  const uint64_t body = here.add(1, {{}});
  here.area().reader = 0;
  EXPECT_EQ(call_body(body, {}), Registers{});
  EXPECT_TRUE(here.records().empty());
  EXPECT_EQ(here.lost(), 0U);
}

}  // namespace
}  // namespace tracewell::fast
