// Snapshots: whoever is asked, what nobody knows is not shown as known.
#include "model/snapshot.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "target/fake/fake_target.h"
#include "target/thread_snapshot.h"

namespace tracewell {
namespace {

RegisterLayout three_registers() {
  RegisterLayout out;
  out.registers = {{.name = "a", .number = 0, .offset = 0, .size_bytes = 8, .type = "int64"},
                   {.name = "b", .number = 1, .offset = 8, .size_bytes = 4, .type = "int32"},
                   {.name = "pc", .number = 2, .offset = 12, .size_bytes = 8, .type = "code_ptr"}};
  out.size_bytes = 20;
  out.pc_index = 2;
  return out;
}

TEST(FrameSnapshot, KnowsTheRegistersThatWereCollected) {
  const RegisterLayout layout = three_registers();
  std::vector<uint8_t> block(20);
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<uint8_t>(i + 1);
  const std::vector<uint8_t> valid = {0b010};
  const FrameBlock blocks[] = {{.kind = FrameBlock::Kind::Registers, .bytes = block}};
  Frame frame;
  frame.blocks = blocks;
  frame.registers_valid = valid;
  FrameSnapshot snapshot(frame, layout, Endian::Little);
  EXPECT_FALSE((*snapshot.register_value(0)).has_value());
  EXPECT_EQ(*snapshot.register_value(1), (std::vector<uint8_t>{9, 10, 11, 12}));
  EXPECT_FALSE((*snapshot.register_value(2)).has_value());
  EXPECT_EQ(snapshot.register_value(3).error().code, Errc::InvalidArgument);
  frame.pc = 0x1234;
  EXPECT_EQ(*snapshot.register_value(2), (std::vector<uint8_t>{0x34, 0x12, 0, 0, 0, 0, 0, 0}));
  FrameSnapshot other_order(frame, layout, Endian::Big);
  EXPECT_EQ(*other_order.register_value(2), (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0x12, 0x34}));
}

TEST(FrameSnapshot, ABlockOfAnotherSizeIsOfAnotherMachine) {
  const RegisterLayout layout = three_registers();
  const std::vector<uint8_t> block(19, 7);
  const FrameBlock blocks[] = {{.kind = FrameBlock::Kind::Registers, .bytes = block}};
  Frame frame;
  frame.blocks = blocks;
  FrameSnapshot snapshot(frame, layout, Endian::Little);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_FALSE((*snapshot.register_value(i)).has_value());
}

/// Byte by byte: the first block that has it.
std::optional<uint8_t> naive_byte(const Frame& frame, uint64_t address) {
  for (const FrameBlock& block : frame.blocks)
    if (block.kind == FrameBlock::Kind::Memory && address - block.address < block.bytes.size())
      return block.bytes[address - block.address];
  return std::nullopt;
}

TEST(FrameSnapshot, KnowsTheMemoryThatWasCollected) {
  std::mt19937 rng(20);
  const RegisterLayout layout = three_registers();
  for (int round = 0; round < 300; ++round) {
    // Near zero, in the middle, and up to the last byte that there is.
    const uint64_t base = std::vector<uint64_t>{0, 0x5000, UINT64_MAX - 99}[rng() % 3];
    std::vector<std::vector<uint8_t>> bytes(rng() % 5);
    std::vector<FrameBlock> blocks;
    for (auto& one : bytes) {
      const uint64_t at = rng() % 80;
      one.resize(rng() % (100 - at));
      for (uint8_t& byte : one) byte = static_cast<uint8_t>(rng());
      blocks.push_back({.kind = FrameBlock::Kind::Memory, .address = base + at, .bytes = one});
    }
    Frame frame;
    frame.blocks = blocks;
    FrameSnapshot snapshot(frame, layout, Endian::Little);
    const uint64_t from = rng() % 100;
    const auto memory = snapshot.memory(base + from, rng() % (101 - from));
    ASSERT_TRUE(memory.ok());
    for (size_t i = 0; i < memory->bytes.size(); ++i) {
      const auto expected = naive_byte(frame, base + from + i);
      ASSERT_EQ(memory->states[i], expected ? ByteState::Told : ByteState::Unknown) << round;
      ASSERT_EQ(memory->bytes[i], expected.value_or(0)) << round;
    }
  }
}

TEST(ThreadSnapshot, ShowsWhatTheTargetKnows) {
  target::FakeTarget fake;
  for (const char* line : {"process 7 attached", "thread 7.8 worker", "reg 7.8 rax 1122",
                           "unknown 7.8 rbp", "mem 7 1ffe 0102", "mem 7 3000 03"})
    ASSERT_TRUE(fake.learn(line).ok()) << line;
  target::ThreadSnapshot snapshot(fake, 7, 8);
  const RegisterLayout& layout = snapshot.layout();
  const auto index_of = [&](std::string_view name) {
    return static_cast<uint32_t>(layout.find(name) - layout.registers.data());
  };
  EXPECT_EQ(*snapshot.register_value(index_of("rax")),
            (std::vector<uint8_t>{0x22, 0x11, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE((*snapshot.register_value(index_of("rbp"))).has_value());
  EXPECT_TRUE((*snapshot.register_value(index_of("rsp"))).has_value()) << "0, and known";
  // A page that is not there hides nothing behind it.
  const auto memory = snapshot.memory(0x1ffe, 0x1003);
  ASSERT_TRUE(memory.ok());
  for (size_t i = 0; i < memory->bytes.size(); ++i) {
    const bool there = i < 2 || i == 0x1002;
    ASSERT_EQ(memory->states[i], there ? ByteState::Told : ByteState::Unknown) << i;
  }
  EXPECT_EQ(memory->bytes[1], 2);
  EXPECT_EQ(memory->bytes[0x1002], 3);
  target::ThreadSnapshot nobody(fake, 7, 9);
  EXPECT_FALSE(nobody.registers().ok());
}

}  // namespace
}  // namespace tracewell
