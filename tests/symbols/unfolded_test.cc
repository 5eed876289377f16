// Compressed debug sections: what they unfold to is bounded for all of a file, and not kept twice.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "little_memory.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf_builder.h"
#include "symbols/names.h"

namespace tracewell::symbols {
namespace {

constexpr uint64_t kMiB = 1 << 20;

/// A compressed section of so many zeros (RFC 1950 and 1951): one block with the fixed codes, a
/// zero, and copies of 258 bytes, of 13 bits each.
std::vector<uint8_t> folded_zeros(uint64_t size) {
  constexpr uint64_t kCopied = 258;
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  for (const uint64_t number : {uint64_t{ELFCOMPRESS_ZLIB}, uint64_t{0}}) writer.uint(number, 4);
  for (const uint64_t number : {size, uint64_t{1}}) writer.uint(number, 8);
  out.insert(out.end(), {0x78, 0x9c});
  size_t bits = 0;
  const auto put_bits = [&](uint32_t code, int count) {  // the highest first, as codes are
    for (int i = count - 1; i >= 0; --i, ++bits) {
      if (bits % 8 == 0) out.push_back(0);
      out.back() |= static_cast<uint8_t>(((code >> i) & 1) << (bits % 8));
    }
  };
  put_bits(0b110, 3);  // the last block, of kind 1
  uint64_t left = size;
  for (; left % kCopied != 0; --left) put_bits(0b00110000, 8);
  for (; left != 0; left -= kCopied) put_bits(0b1100010100000, 13);
  put_bits(0, 7);
  ByteWriter(out, Endian::Big).uint(size % 65521 << 16 | 1, 4);
  return out;
}

std::vector<uint8_t> elf_of_debug(uint64_t line, uint64_t line_texts, uint64_t texts) {
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R, 0}};
  elf.sections = {{".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
                   std::vector<uint8_t>(0x100)}};
  elf.sections.push_back({".debug_line", SHT_PROGBITS, SHF_COMPRESSED, 0, folded_zeros(line)});
  elf.sections.push_back(
      {".debug_line_str", SHT_PROGBITS, SHF_COMPRESSED, 0, folded_zeros(line_texts)});
  elf.sections.push_back({".debug_str", SHT_PROGBITS, SHF_COMPRESSED, 0, folded_zeros(texts)});
  return elf.build();
}

TEST(Unfolded, ABudgetForAllSectionsOfAFile) {
  const std::vector<uint8_t> bytes = elf_of_debug(20 * kMiB, 25 * kMiB, 10 * kMiB);
  ElfFile file(bytes);
  std::shared_ptr<const void> owners[3];
  EXPECT_EQ(file.contents(*file.find(".debug_line"), owners[0]).size(), 20 * kMiB);
  EXPECT_TRUE(file.contents(*file.find(".debug_line_str"), owners[1]).empty());
  EXPECT_EQ(owners[1], nullptr);
  const Bytes last = file.contents(*file.find(".debug_str"), owners[2]);
  ASSERT_EQ(last.size(), 10 * kMiB);
  EXPECT_EQ(last.front() + last.back(), 0);
}

TEST(Unfolded, DamageIsNoRoomLost) {
  std::vector<uint8_t> bytes = elf_of_debug(30 * kMiB, 30 * kMiB, 1);
  const ElfFile sound(bytes);
  bytes[sound.find(".debug_line")->offset + 1000] ^= 0xff;
  ElfFile file(bytes);
  std::shared_ptr<const void> owner;
  EXPECT_TRUE(file.contents(*file.find(".debug_line"), owner).empty());
  EXPECT_EQ(file.contents(*file.find(".debug_line_str"), owner).size(), 30 * kMiB);
}

TEST(Unfolded, WhatIsLeftOutIsTold) {
  const auto left_out = [](std::vector<uint8_t> bytes) {
    auto owner = shared_bytes(std::move(bytes));
    const auto image = Image::parse(*owner, owner, "test");
    return Names::read(*image, "")->left_out();
  };
  using Sections = std::vector<std::string>;
  EXPECT_EQ(left_out(elf_of_debug(20 * kMiB, 25 * kMiB, 10 * kMiB)), Sections{".debug_line_str"});
  EXPECT_EQ(left_out(elf_of_debug(kMiB, kMiB, kMiB)), Sections());
}

void read_names(std::vector<uint8_t> bytes) {
  auto owner = shared_bytes(std::move(bytes));
  const auto image = Image::parse(*owner, owner, "test");
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_FALSE(Names::read(*image, "")->line_at(0x1000));
}

TEST(Unfolded, KilobytesDoNotTakeGigabytes) {
  EXPECT_IN_MEMORY(120 << 20, read_names(elf_of_debug(100 * kMiB, 100 * kMiB, 100 * kMiB)));
}

TEST(Unfolded, IsNotKeptTwice) {
  EXPECT_IN_MEMORY(48 << 20, read_names(elf_of_debug(10, 10, 30 * kMiB)));
}

}  // namespace
}  // namespace tracewell::symbols
