// What compile() says of its code, what it refuses, and limits.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "native_runner.h"
#include "world.h"

namespace tracewell::axjit {
namespace {

constexpr uint16_t kRax = 1u << 0, kRdx = 1u << 2, kRsi = 1u << 6;

std::vector<uint8_t> bytes(std::string text) {
  std::erase(text, ' ');
  return *from_hex(text);
}

// (a & 255) == 7 && p->length > 100, as GDB writes it; a is register 5, p register 4.
const auto kUsual = bytes(
    "260005 1640 2300ff 0f 2207 13 200012 21002c 260004 2a40 2208 02 1a 1640 2264 2b 14 200027"
    "21002c 2201 21002e 2200 27");

std::vector<RegisterPlace> sixteen_registers() {
  std::vector<RegisterPlace> places;
  for (uint32_t i = 0; i < 16; ++i)
    places.push_back({i, static_cast<int32_t>(sizeof(tracewell_native_context) + 8 * i), 8});
  return places;
}

struct Saved {
  tracewell_native_context context{};
  uint64_t registers[16] = {};
};

TEST(AxjitCompile, UsualConditionIsSmallAndTouchesLittle) {
  const auto registers = sixteen_registers();
  const auto compiled = compile(kUsual, ax::Purpose::Condition, {.registers = registers,
                                                                 .variables = {}});
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  EXPECT_LT(compiled->code.size(), 200u);
  EXPECT_EQ(compiled->clobbers, kRax | kRdx | kRsi);
  EXPECT_EQ(compiled->stack_bytes, 8u);
  EXPECT_FALSE(compiled->calls);
  EXPECT_EQ(compiled->loads.size(), 2u);  // and the one that looks where the fault was

  NativeRunner runner;
  runner.load(*compiled);
  int64_t object[2] = {0, 101};
  Saved saved;
  saved.registers[4] = reinterpret_cast<uint64_t>(object);
  const auto holds = [&](uint64_t a, int64_t length) {
    saved.registers[5] = a;
    object[1] = length;
    const WatchedRun run = runner.run(saved.context);
    EXPECT_EQ(run.outcome.status & (TRACEWELL_NATIVE_FAULT_MASK | TRACEWELL_NATIVE_NO_VALUE), 0u);
    return run.outcome.value;
  };
  EXPECT_EQ(holds(0xff07, 101), 1u);
  EXPECT_EQ(holds(0xff07, 100), 0u);
  EXPECT_EQ(holds(0xff07, -1), 0u);
  EXPECT_EQ(holds(8, 101), 0u);
}

TEST(AxjitCompile, SaysWhatAnExpressionNeeds) {
  const auto needs = survey(kUsual, ax::Purpose::Condition);
  ASSERT_TRUE(needs.ok());
  EXPECT_EQ(needs->registers, (std::vector<uint32_t>{4, 5}));
  EXPECT_TRUE(needs->variables.empty());
  EXPECT_FALSE(needs->records || needs->prints || needs->loops);

  // getv 9; setv 3; tracev 3; if_goto 0; end; what nobody comes to: reg 1; end
  const auto other = survey(bytes("2c0009 2d0003 2e0003 200000 27 260001 27"), ax::Purpose::Action);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->variables, (std::vector<uint32_t>{3, 9}));
  EXPECT_TRUE(other->registers.empty());
  EXPECT_TRUE(other->records && other->loops);
  EXPECT_FALSE(other->prints);
  EXPECT_TRUE(survey(bytes("2201 2201 34 00 0002 6100 27"), ax::Purpose::Action)->prints);
}

TEST(AxjitCompile, RefusesWhatTheVerifierRefuses) {
  const auto refused = compile(bytes("1b 27"), ax::Purpose::Action, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::InvalidArgument);
  EXPECT_EQ(refused.error().message, "floating point opcode 'ref_float' is not supported");
  EXPECT_EQ(refused.error().offset, 0u);
  EXPECT_FALSE(compile({}, ax::Purpose::Action, {}).ok());
  EXPECT_FALSE(compile(bytes("27"), ax::Purpose::Condition, {}).ok());
}

TEST(AxjitCompile, RefusesPlacesThatAreNone) {
  const RegisterPlace wide[] = {{40, 0, 16}};
  const auto refused = compile(bytes("27"), ax::Purpose::Action,
                               {.registers = wide, .variables = {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("register 40 has 16 bytes"), std::string::npos);
  for (const uint32_t offset : {4u, 0x80000000u}) {
    const VariablePlace cell[] = {{7, VariablePlace::Kind::Cell, offset}};
    const auto variable = compile(bytes("27"), ax::Purpose::Action,
                                  {.registers = {}, .variables = cell});
    ASSERT_FALSE(variable.ok());
    EXPECT_NE(variable.error().message.find("variable 7"), std::string::npos);
  }
}

// The first byte that cannot be read, also where the word begins in the page before.
TEST(AxjitCompile, FaultSaysWhatCouldNotBeRead) {
  const auto registers = sixteen_registers();
  const auto compiled = compile(bytes("260000 2210 02 1a 27"), ax::Purpose::Condition,
                                {.registers = registers, .variables = {}});
  ASSERT_TRUE(compiled.ok());
  NativeRunner runner;
  runner.load(*compiled);
  const Arena arena;
  const uint64_t first = arena.addresses()[4];
  struct { uint64_t address, unreadable; size_t faults; } const cases[] = {
      {first - 1, first - 1, 2},                              // the page before it is missing
      {first - 8, first - 8, 1},
      {first + 4 * 4096 - 8, 0, 0},
      {first + 4 * 4096 - 7, first + 4 * 4096, 1},            // reaches into a missing page
      {first + 4 * 4096 + 5, first + 4 * 4096 + 5, 1},
      {0x8000000000000000, 0x8000000000000000, 1},            // no address at all
      {0xffffffffffffffff, 0xffffffffffffffff, 2},            // around the end of all memory
  };
  for (const auto& it : cases) {
    Saved saved;
    saved.registers[0] = it.address - 16;
    const WatchedRun run = runner.run(saved.context);
    EXPECT_EQ(saved.context.fault_address, it.unreadable) << std::hex << it.address;
    EXPECT_EQ(run.faults, it.faults) << std::hex << it.address;
    if (it.unreadable != 0) {
      const uint64_t status = uint64_t{6} << TRACEWELL_NATIVE_OFFSET_SHIFT |
                              TRACEWELL_NATIVE_NO_VALUE |
                              static_cast<uint64_t>(ax::Fault::MemoryAccess);
      EXPECT_EQ(run.outcome.status, status);
      EXPECT_EQ(run.outcome.value, 0u);
    }
  }
}

/// As long as expressions may be: `before`, then `text` again and again.
std::vector<uint8_t> repeated(const std::string& before, const std::string& text) {
  std::vector<uint8_t> code = bytes(before);
  const std::vector<uint8_t> piece = bytes(text);
  while (code.size() + piece.size() < ax::kCodeBytesMax)
    code.insert(code.end(), piece.begin(), piece.end());
  code.push_back(0x27);
  return code;
}

/// Asks for the clock and branches on it to the next instruction, which does the same, above
/// `height` values: each time all of them leave their registers and come home again.
std::vector<uint8_t> branches(size_t height) {
  std::vector<uint8_t> code;
  for (size_t i = 0; i < height; ++i) code.insert(code.end(), {0x26, 0, 0});
  while (code.size() + 6 < ax::kCodeBytesMax) {
    const size_t next = code.size() + 6;
    code.insert(code.end(), {0x2c, 0, World::kClock, 0x20, static_cast<uint8_t>(next >> 8),
                             static_cast<uint8_t>(next)});
  }
  code.push_back(0x27);
  return code;
}

// The longest ones, and those with the most code for each byte.
TEST(AxjitCompile, TakesEverythingThatVerifies) {
  std::string full;  // constants that no immediate operand can be
  for (int i = 0; i < 96; ++i) full += "25 8123456789abcdef";
  const std::vector<std::vector<uint8_t>> codes = {
      repeated(full, "2c0005 29"),              // asks for the clock
      repeated(full, "2c0001 2d0001 29"),       // updates
      repeated(full, "2201 2201 0c"),           // records
      repeated("260000", "1a 0d01"),            // reads and records
      repeated("260000 260001", "1a 2b"),       // reads two ways
      repeated("260000", "28 05 28 07"),        // divides by what it divides
      repeated(full + "260000", "2c0001 07"),   // divides by what nobody knows
      repeated("", "260000 200000"),            // branches back
      repeated("", full + "34 5e 0002 7800"),   // prints
      repeated(full, "32 5f 29"),               // copies from far below
      branches(0), branches(5), branches(90),
  };
  const auto registers = World::registers();
  const auto variables = World::variables();
  for (const auto& code : codes) {
    for (const MemoryReads reads : {MemoryReads::Direct, MemoryReads::Called}) {
      const auto compiled = compile(code, ax::Purpose::Action,
                                    {registers, variables, reads, ax::kBudget});
      ASSERT_TRUE(compiled.ok()) << compiled.error().text() << to_hex(code);
      EXPECT_LT(compiled->code.size(), 1u << 20);
      EXPECT_LE(compiled->stack_bytes, 8u * (ax::kStackSlots + 6));
    }
  }
}

// Two threads count in one variable. With a load and a store apart they would lose counts.
TEST(AxjitCompile, UpdatesOfVariablesAreNotLost) {
  const std::vector<VariablePlace> variables = World::variables();
  // getv 1; const8 3; add; ext 64; setv 1; end
  const auto compiled = compile(bytes("2c0001 2203 02 1640 2d0001 27"), ax::Purpose::Action,
                                {.registers = {}, .variables = variables});
  ASSERT_TRUE(compiled.ok());
  NativeRunner runner;
  runner.load(*compiled);
  using Function = tracewell_native_outcome (*)(tracewell_native_context*);
  const auto function = reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(runner.entry()));
  alignas(8) uint64_t cells[8] = {};
  constexpr uint64_t kTimes = 200000;
  std::atomic<int> ready{0};
  const auto count = [&] {
    tracewell_native_context context{};
    context.variables = cells;
    for (++ready; ready < 2;) {
    }
    for (uint64_t i = 0; i < kTimes; ++i) function(&context);
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT_EQ(cells[1], 2 * 3 * kTimes);
}

}  // namespace
}  // namespace tracewell::axjit
