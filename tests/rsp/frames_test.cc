// Trace frames: bytes against bytes written by hand, and both directions against each other.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text/hex.h"
#include "rsp/frames.h"

namespace tracewell::rsp {
namespace {

using Kind = FrameBlock::Kind;

std::vector<uint8_t> bytes(std::string text) {
  std::erase(text, ' ');
  const auto result = from_hex(text);
  EXPECT_TRUE(result) << text;
  return *result;
}

FrameBlock block(Kind kind, Bytes data, uint64_t address = 0) {
  FrameBlock result;
  result.kind = kind;
  result.address = address;
  result.bytes = data;
  return result;
}

FrameBlock variable(int32_t number, int64_t value) {
  FrameBlock result;
  result.kind = Kind::Variable;
  result.number = number;
  result.value = value;
  return result;
}

bool same(const FrameBlock& a, const FrameBlock& b) {
  return a.kind == b.kind && a.address == b.address && a.number == b.number &&
         a.value == b.value && as_text(a.bytes) == as_text(b.bytes);
}

const uint8_t kData[] = {0xaa, 0xbb, 0xcc, 0xdd};

std::vector<FrameBlock> one_of_each() {
  return {block(Kind::Registers, kData), block(Kind::Memory, Bytes(kData).first(2), 0x401136),
          variable(2, -2), block(Kind::Static, Bytes(kData).first(1))};
}

TEST(Frames, BytesOfOneOfEachInBothOrders) {
  std::vector<uint8_t> out;
  ASSERT_TRUE(encode_frame(out, 3, one_of_each(), Endian::Little).ok());
  EXPECT_EQ(to_hex(out), to_hex(bytes("0300 23000000 52 aabbccdd 4d 3611400000000000 0200 aabb"
                                      "56 02000000 feffffffffffffff 53 0100 aa")));
  out.clear();
  ASSERT_TRUE(encode_frame(out, 3, one_of_each(), Endian::Big).ok());
  EXPECT_EQ(to_hex(out), to_hex(bytes("0003 00000023 52 aabbccdd 4d 0000000000401136 0002 aabb"
                                      "56 00000002 fffffffffffffffe 53 0001 aa")));
}

TEST(Frames, HeadersAndTheEndOfTheStream) {
  const auto header = read_frame_header(bytes("fbff 10000000"), Endian::Little);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->tracepoint, -5);
  EXPECT_EQ(header->size, 16u);
  EXPECT_EQ(read_frame_header(bytes("0102 00000003"), Endian::Big)->size, 3u);
  EXPECT_EQ(read_frame_header(bytes("0102 00000003"), Endian::Big)->tracepoint, 0x102);
  for (const char* end : {"0000", "000000", "00000000", "000000000000"}) {
    const auto none = read_frame_header(bytes(end), Endian::Little);
    ASSERT_TRUE(none) << end;
    EXPECT_EQ(none->tracepoint, 0);
    EXPECT_EQ(none->size, 0u);
  }
  for (const char* cut : {"", "00", "0100", "0100000000"})
    EXPECT_FALSE(read_frame_header(bytes(cut), Endian::Little)) << cut;
}

TEST(Frames, WalkingGivesBackWhatWasWritten) {
  const auto blocks = one_of_each();
  for (const Endian endian : {Endian::Little, Endian::Big}) {
    std::vector<uint8_t> out;
    ASSERT_TRUE(encode_frame(out, 3, blocks, endian).ok());
    const Bytes data = Bytes(out).subspan(kFrameHeaderBytes);
    EXPECT_EQ(data.size(), encoded_size(blocks));
    size_t at = 0;
    const Status status = walk_blocks(data, 4, endian, [&](const FrameBlock& one) {
      ASSERT_LT(at, blocks.size());
      EXPECT_TRUE(same(one, blocks[at])) << at;
      ++at;
    });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(at, blocks.size());
  }
}

TEST(Frames, EveryCutIsFoundWhereItIs) {
  const auto blocks = one_of_each();
  std::vector<uint8_t> out;
  ASSERT_TRUE(encode_frame(out, 3, blocks, Endian::Little).ok());
  const Bytes data = Bytes(out).subspan(kFrameHeaderBytes);
  std::vector<size_t> starts{0};
  for (const FrameBlock& one : blocks) starts.push_back(starts.back() + encoded_size(one));
  for (size_t cut = 0; cut < data.size(); ++cut) {
    BlockWalker walker(data.first(cut), 4, Endian::Little);
    size_t count = 0;
    while (walker.next()) ++count;
    EXPECT_EQ(walker.offset(), starts[count]) << cut;
    EXPECT_EQ(walker.failed(), cut != starts[count]) << cut;
    if (!walker.failed()) continue;
    EXPECT_EQ(walker.error().code, Errc::Truncated);
    EXPECT_EQ(walker.error().offset, starts[count]);
    EXPECT_FALSE(walker.next());
  }
}

TEST(Frames, UnknownBlocksEndTheWalk) {
  int count = 0;
  const Status status = walk_blocks(bytes("56 02000000 0500000000000000 51 00"), 4, Endian::Little,
                                    [&](const FrameBlock&) { ++count; });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(count, 1);
  EXPECT_EQ(status.error().code, Errc::Corrupt);
  EXPECT_EQ(status.error().text(), "unknown block type 0x51 (at byte 0xd)");
}

TEST(Frames, ABigRegisterBlockInASmallFrameIsACut) {
  const Status status =
      walk_blocks(bytes("52 00"), 0xffffffff, Endian::Little, [](const FrameBlock&) { FAIL(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::Truncated);
}

TEST(Frames, LongMemoryIsSplitAndItsAddressesAdvance) {
  for (const size_t size : {0u, 1u, 65534u, 65535u, 65536u, 131070u, 131071u}) {
    std::vector<uint8_t> memory(size);
    for (size_t i = 0; i < size; ++i) memory[i] = static_cast<uint8_t>(i * 7 >> 3);
    const FrameBlock blocks[] = {block(Kind::Memory, memory, 0x1000)};
    std::vector<uint8_t> out;
    ASSERT_TRUE(encode_frame(out, 1, blocks, Endian::Little).ok());
    ASSERT_EQ(out.size(), kFrameHeaderBytes + encoded_size(blocks));
    uint64_t address = 0x1000;
    std::vector<uint8_t> joined;
    const Status status = walk_blocks(
        Bytes(out).subspan(kFrameHeaderBytes), 0, Endian::Little, [&](const FrameBlock& one) {
          EXPECT_EQ(one.address, address);
          address += one.bytes.size();
          joined.insert(joined.end(), one.bytes.begin(), one.bytes.end());
        });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(joined, memory);
  }
}

TEST(Frames, WhatFitsNoFrameIsRefusedAndLeavesNothing) {
  std::vector<uint8_t> out{1, 2, 3};
  const std::vector<uint8_t> before = out;
  for (const int32_t number : {0, 32768, -32769, 65536, 1 << 30}) {
    const Status status = encode_frame(out, number, {}, Endian::Little);
    ASSERT_FALSE(status.ok()) << number;
    EXPECT_EQ(status.error().code, Errc::Limit);
  }
  const std::vector<uint8_t> text(65536);
  const FrameBlock blocks[] = {variable(1, 1), block(Kind::Static, text)};
  EXPECT_FALSE(encode_frame(out, 1, blocks, Endian::Little).ok());
  EXPECT_EQ(out, before);
  // Four gigabytes in all, without having them: the same bytes again and again.
  const std::vector<FrameBlock> many(70000, block(Kind::Memory, text));
  EXPECT_FALSE(encode_frame(out, 1, many, Endian::Little).ok());
  EXPECT_EQ(out, before);
  EXPECT_TRUE(encode_frame(out, 32767, {}, Endian::Little).ok());
  EXPECT_TRUE(encode_frame(out, -1, {}, Endian::Little).ok());
}

TEST(Frames, RandomFramesInAStreamComeBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const Endian endian = round % 2 == 0 ? Endian::Little : Endian::Big;
    const uint32_t register_bytes = static_cast<uint32_t>(random() % 40);
    std::vector<uint8_t> noise(200);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> stream;
    std::vector<std::pair<int32_t, std::vector<FrameBlock>>> frames;
    for (uint64_t i = random() % 5; i > 0; --i) {
      std::vector<FrameBlock> blocks;
      for (uint64_t j = random() % 6; j > 0; --j) {
        const Bytes piece = Bytes(noise).subspan(random() % 100, random() % 100);
        switch (random() % 4) {
          case 0:
            blocks.push_back(block(Kind::Registers, Bytes(noise).first(register_bytes)));
            break;
          case 1: blocks.push_back(block(Kind::Memory, piece, random())); break;
          case 2: blocks.push_back(block(Kind::Static, piece)); break;
          default: blocks.push_back(variable(static_cast<int32_t>(random()),
                                             static_cast<int64_t>(random())));
        }
      }
      const int32_t number = static_cast<int32_t>(random() % 32767) + 1;
      ASSERT_TRUE(encode_frame(stream, number, blocks, endian).ok());
      frames.emplace_back(number, std::move(blocks));
    }
    Bytes left = stream;
    for (const auto& [number, blocks] : frames) {
      const auto header = read_frame_header(left, endian);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->tracepoint, number);
      ASSERT_LE(header->size, left.size() - kFrameHeaderBytes);
      size_t at = 0;
      EXPECT_TRUE(walk_blocks(left.subspan(kFrameHeaderBytes, header->size), register_bytes, endian,
                              [&](const FrameBlock& one) {
                                EXPECT_TRUE(at < blocks.size() && same(one, blocks[at]));
                                ++at;
                              }).ok());
      EXPECT_EQ(at, blocks.size());
      left = left.subspan(kFrameHeaderBytes + header->size);
    }
    EXPECT_TRUE(left.empty());
  }
}

}  // namespace
}  // namespace tracewell::rsp
