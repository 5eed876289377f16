#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/murmur3.h"
#include "symbols/elf_builder.h"
#include "symbols/image_map.h"
#include "symbols/pe/program_hash.h"
#include "symbols/pe_builder.h"

namespace tracewell::symbols {
namespace {

Result<std::shared_ptr<const Image>> parse_pe(std::vector<uint8_t> bytes) {
  auto owner = shared_bytes(std::move(bytes));
  return Image::parse(*owner, owner, "test.exe");
}

std::vector<uint8_t> filled(size_t size, uint8_t fill) { return std::vector<uint8_t>(size, fill); }

TestPe small_exe() {
  TestPe pe;
  pe.sections = {{".text", 0x1000, TestPe::kText, filled(0x234, 0x90)},
                 {".rdata", 0x2000, TestPe::kReadOnly, filled(0x100, 0x22)},
                 {".data", 0x3000, TestPe::kData, filled(0x40, 0x33), 0x1800}};
  return pe;
}

uint64_t read_number(const ImageMap& map, uint64_t address, size_t size) {
  std::vector<uint8_t> into(size);
  EXPECT_EQ(map.read(address, into), size) << std::hex << address;
  return load_uint(into.data(), size, Endian::Little);
}

TEST(PeImage, Facts) {
  auto image = parse_pe(small_exe().build());
  ASSERT_TRUE(image) << image.error().text();
  const ImageFacts& facts = (*image)->facts();
  EXPECT_EQ(facts.format, ImageFacts::Format::Pe);
  EXPECT_EQ(facts.address_bytes, 8u);
  EXPECT_EQ(facts.machine, 0x8664);
  EXPECT_TRUE(facts.relocatable);
  EXPECT_TRUE(facts.program);
  EXPECT_EQ(facts.link_base, 0x140000000u);
  EXPECT_EQ(facts.span_bytes, 0x5000u);
  EXPECT_EQ(facts.entry, 0x140001000u);
  EXPECT_EQ(facts.build_id, "");
  EXPECT_FALSE(facts.program_headers);
  EXPECT_FALSE(facts.dynamic);
}

TEST(PeImage, LibrariesAndThirtyTwoBits) {
  TestPe pe = small_exe();
  pe.is_64 = false;
  pe.image_base = 0x10000000;
  pe.flags = 0x2003;  // a library whose relocations were stripped
  auto image = parse_pe(pe.build());
  ASSERT_TRUE(image) << image.error().text();
  const ImageFacts& facts = (*image)->facts();
  EXPECT_EQ(facts.address_bytes, 4u);
  EXPECT_EQ(facts.machine, 0x14c);
  EXPECT_FALSE(facts.relocatable);
  EXPECT_FALSE(facts.program);
  EXPECT_EQ(facts.link_base, 0x10000000u);
  ImageMap map;
  EXPECT_EQ(map.add(*image, 0x20000000).error().code, Errc::InvalidArgument);
  EXPECT_TRUE(map.add(*image, std::nullopt));
  EXPECT_EQ(read_number(map, 0x10001000, 2), 0x9090u);
}

// The rest of a page is seen, and it is zeros to the end of the sector, which the file has; data
// that the program may change is not read.
TEST(PeImage, ReadsOnlyWhatNobodyWritesTo) {
  auto image = parse_pe(small_exe().build());
  ASSERT_TRUE(image);
  std::vector<uint8_t> into(0x1000);
  EXPECT_EQ((*image)->read(0x140001000, into), 0x400u);
  EXPECT_EQ(into[0x233], 0x90);
  EXPECT_EQ(into[0x234], 0);
  EXPECT_EQ((*image)->read(0x140000000, into), 0x400u);
  EXPECT_EQ(into[0], 'M');
  EXPECT_EQ((*image)->read(0x1400020ff, into), 0x101u);
  EXPECT_EQ(into[0], 0x22);
  EXPECT_EQ((*image)->read(0x140003000, into), 0u);
  EXPECT_EQ((*image)->read(0x13fffffff, into), 0u);
}

// The loader writes there although the program may not.
TEST(PeImage, WhatTheLoaderFillsInIsNotKnown) {
  TestPe pe = small_exe();
  pe.tables[TestPe::kImports] = {0x2010, 0x20};
  pe.tables[TestPe::kLoadConfig] = {0x2080, 0x80};
  std::vector<uint8_t>& config = pe.sections[1].bytes;
  config.resize(0x200, 0x22);
  std::fill(config.begin() + 0x80, config.begin() + 0x100, uint8_t{0});
  store_uint(config.data() + 0x80, 0x80, 4, Endian::Little);
  store_uint(config.data() + 0x80 + 0x70, 0x140002040, 8, Endian::Little);
  store_uint(config.data() + 0x80 + 0x78, 0x140001000, 8, Endian::Little);  // where code begins
  auto image = parse_pe(pe.build());
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_TRUE((*image)->covers(0x140002000, 0x10));
  for (uint64_t hole : {0x140002010, 0x14000202f, 0x140002040, 0x140002047, 0x140001000})
    EXPECT_FALSE((*image)->covers(hole, 1)) << std::hex << hole;
  EXPECT_TRUE((*image)->covers(0x140002030, 0x10));
  EXPECT_TRUE((*image)->covers(0x140002048, 0x1b8));
  EXPECT_TRUE((*image)->covers(0x140001008, 1));
}

TEST(PeImage, AddressesFollowTheImage) {
  TestPe pe = small_exe();
  std::vector<uint8_t>& code = pe.sections[0].bytes;
  store_uint(code.data() + 0x10, 0x140002000, 8, Endian::Little);
  store_uint(code.data() + 0x20, 0x40001234, 4, Endian::Little);
  store_uint(code.data() + 0x30, 0x4000, 2, Endian::Little);
  store_uint(code.data() + 0x38, 0x1234, 2, Endian::Little);
  // Types 10 (64 bits), 3 (32), 1 (high half), 2 (low half), 0 (none), out of order; one twice, one
  // into the middle of another, one in writable memory, two outside.
  pe.add_relocations({{0x1030, 1}, {0x1010, 10}, {0x1020, 3}, {0x1038, 2}, {0x1040, 0},
                      {0x1010, 10}, {0x1014, 3}, {0x3000, 10}, {0x8000, 10}, {0x13fe, 10}});
  auto image = parse_pe(pe.build());
  ASSERT_TRUE(image) << image.error().text();
  ImageMap map;
  ASSERT_TRUE(map.add(*image, 0x7ff612345000));
  const uint64_t bias = 0x7ff612345000 - 0x140000000;
  EXPECT_EQ(read_number(map, 0x7ff612346010, 8), 0x7ff612347000u);
  EXPECT_EQ(read_number(map, 0x7ff612346020, 4), uint32_t(0x40001234 + bias));
  EXPECT_EQ(read_number(map, 0x7ff612346030, 2), uint16_t(0x4000 + (bias >> 16)));
  EXPECT_EQ(read_number(map, 0x7ff612346038, 2), uint16_t(0x1234 + bias));
  EXPECT_EQ(read_number(map, 0x7ff612346040, 2), 0x9090u);
  // A piece of a number.
  EXPECT_EQ(read_number(map, 0x7ff612346013, 3), (0x7ff612347000u >> 24) & 0xffffff);
  EXPECT_EQ(read_number(map, 0x7ff61234600e, 4), 0x70009090u);
  // Where it wanted to be, nothing moves.
  ImageMap home;
  ASSERT_TRUE(home.add(*image, std::nullopt));
  EXPECT_EQ(read_number(home, 0x140001010, 8), 0x140002000u);
}

TEST(PeImage, TheDebugFilesSignatureIsTheBuildId) {
  TestPe pe = small_exe();
  std::vector<uint8_t>& data = pe.sections[1].bytes;
  std::fill(data.begin(), data.end(), uint8_t{0});
  pe.tables[TestPe::kDebug] = {0x2000, 56};
  store_uint(data.data() + 12, 13, 4, Endian::Little);  // of another type
  store_uint(data.data() + 28 + 12, 2, 4, Endian::Little);
  store_uint(data.data() + 28 + 20, 0x2080, 4, Endian::Little);
  const std::string_view record = "RSDSabcdefghijklmnop\x03";
  std::copy(record.begin(), record.end(), data.begin() + 0x80);
  auto image = parse_pe(pe.build());
  ASSERT_TRUE(image);
  EXPECT_EQ((*image)->facts().build_id, "6162636465666768696a6b6c6d6e6f7003000000");
}

// All bytes of the file, whatever is mapped of them.
TEST(PeImage, ProgramHash) {
  TestPe pe = small_exe();
  pe.symbols = {{"main", 0}};
  std::vector<uint8_t> bytes = pe.build();
  auto image = parse_pe(bytes);
  ASSERT_TRUE(image);
  EXPECT_EQ(program_hash(**image), murmur3_x64_128(bytes, 0x1337)[0]);
  bytes.back() ^= 1;
  EXPECT_NE(program_hash(**image), program_hash(**parse_pe(bytes)));
  pe.is_64 = false;
  pe.image_base = 0x400000;
  bytes = pe.build();
  EXPECT_EQ(program_hash(**parse_pe(bytes)), murmur3_x86_32(bytes, 0x1337));
}

TEST(PeImage, SaysWhatIsWrong) {
  const auto error = [](std::vector<uint8_t> bytes) {
    auto image = parse_pe(std::move(bytes));
    EXPECT_FALSE(image);
    return image.ok() ? Error{} : image.error();
  };
  const std::vector<uint8_t> sound = small_exe().build();
  EXPECT_EQ(error({'M', 'Z'}).code, Errc::Corrupt);
  std::vector<uint8_t> dos = sound;
  dos[0x80] = 'N';
  EXPECT_EQ(error(dos).code, Errc::Unsupported);
  EXPECT_NE(error(dos).message.find("DOS"), std::string::npos);
  std::vector<uint8_t> cut = sound;
  cut.resize(sound.size() - 0x200);  // without the last section's bytes
  EXPECT_EQ(error(cut).code, Errc::Corrupt);
  cut.resize(0x190);
  EXPECT_EQ(error(cut).code, Errc::Corrupt);
  const std::string_view pdb = "Microsoft C/C++ MSF 7.00\r\n\x1a" "DS";
  const Error of_pdb = error({pdb.begin(), pdb.end()});
  EXPECT_EQ(of_pdb.code, Errc::Unsupported);
  EXPECT_NE(of_pdb.message.find("PDB files are not read"), std::string::npos);
  TestPe object = small_exe();
  object.flags = 0;
  EXPECT_EQ(error(object.build()).code, Errc::Unsupported);
  TestPe outside = small_exe();
  outside.sections[1].rva = 0x1000;
  EXPECT_EQ(error(outside.build()).code, Errc::Corrupt);
  TestPe beyond = small_exe();
  beyond.image_base = 0xffffffffffffe000;
  EXPECT_EQ(error(beyond.build()).code, Errc::Corrupt);
}

// The padding of the last section may be missing, as some tools write it.
TEST(PeImage, ALastSectionWithoutItsPadding) {
  std::vector<uint8_t> bytes = small_exe().build();
  bytes.resize(bytes.size() - 0x1c0);
  EXPECT_TRUE(parse_pe(bytes));
}

// Whatever the bytes are, the answer is an image whose ranges are sane, or an error.
TEST(PeImage, DamagedFilesAreSurvived) {
  std::mt19937 random(42);
  TestPe pe = small_exe();
  pe.tables[TestPe::kImports] = {0x2010, 0x20};
  pe.tables[TestPe::kLoadConfig] = {0x2000, 0x80};
  pe.tables[TestPe::kDebug] = {0x2020, 0x38};
  pe.add_relocations({{0x1010}, {0x1020, 3}, {0x2000}});
  const std::vector<uint8_t> sound = pe.build();
  int opened = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = sound;
    const int changes = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < changes; ++i)
      bytes[random() % 2 == 0 ? 0x80 + random() % 0x200 : random() % bytes.size()] =
          static_cast<uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    auto owner = shared_bytes(std::move(bytes));
    auto image = Image::parse(*owner, owner, "test");
    if (!image) continue;
    ++opened;
    uint64_t last = 0;
    std::vector<uint8_t> into(64);
    for (const ImageRange& range : (*image)->read_only()) {
      ASSERT_GE(range.address, last);
      ASSERT_GT(range.end(), range.address);
      ASSERT_GE(range.bytes.data(), owner->data());
      ASSERT_LE(range.bytes.data() + range.bytes.size(), owner->data() + owner->size());
      last = range.end();
      ASSERT_GT((*image)->read(range.address, into, 0x10000), 0u);
    }
  }
  EXPECT_GT(opened, 100);
}

}  // namespace
}  // namespace tracewell::symbols
