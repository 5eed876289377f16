// Symbol tables whose author wants them never to end.
#include "symbols/names/symbol_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/elf/elf_file.h"
#include "symbols/elf_builder.h"
#include "symbols/names.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kSymbolBytes = 24;

/// An entry of a function at 0x1010, with the name "a".
std::vector<uint8_t> one_symbol() {
  std::vector<uint8_t> out;
  ByteWriter writer(out, Endian::Little);
  writer.uint(1, 4);
  writer.uint(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1);
  writer.uint(0, 1);
  writer.uint(1, 2);
  writer.uint(0x1010, 8);
  writer.uint(4, 8);
  return out;
}

/// `symbols`: the table's entries behind the empty one. `stated_bytes`: what the header says
/// instead of the table's size; it lies behind all else but the names of sections.
std::vector<uint8_t> program(const std::vector<uint8_t>& symbols, uint64_t stated_bytes = 0) {
  std::vector<uint8_t> table(kSymbolBytes);
  table.insert(table.end(), symbols.begin(), symbols.end());
  TestElf elf;
  elf.segments = {{0, 0x400, PF_R, 0}, {0x1000, 0x100, PF_R | PF_X, 0x90}};
  elf.sections = {
      {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::vector<uint8_t>(0x100), 0, 0,
       0},
      {".strtab", SHT_STRTAB, 0, 0, {0, 'a', 0, 'b', 0}, 0, 0, 0},
      {".symtab", SHT_SYMTAB, 0, 0, table, 2, kSymbolBytes, stated_bytes}};
  return elf.build();
}

/// A file that ends in a hole, so that it has `size` bytes.
class HollowFile {
 public:
  HollowFile(const std::vector<uint8_t>& head, size_t size) : size_(size) {
    start_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start_ != MAP_FAILED) std::memcpy(start_, head.data(), head.size());
  }
  ~HollowFile() {
    if (start_ != MAP_FAILED) ::munmap(start_, size_);
  }
  HollowFile(const HollowFile&) = delete;
  HollowFile& operator=(const HollowFile&) = delete;
  Bytes bytes() const {
    return start_ == MAP_FAILED ? Bytes() : Bytes(static_cast<const uint8_t*>(start_), size_);
  }

 private:
  size_t size_;
  void* start_;
};

TEST(SymbolWork, ATableOfHolesEnds) {
  constexpr size_t kTable = size_t{8} << 30;
  const HollowFile hollow(program(one_symbol(), kTable), kTable + (size_t{1} << 20));
  ASSERT_FALSE(hollow.bytes().empty());
  const ElfFile file(hollow.bytes());
  uint64_t asked = 0;
  SymbolTable table;
  table.read(file, {}, [&] {
    ++asked;
    return false;
  });
  EXPECT_TRUE(table.find_function(0x1010)) << "what is in front of the hole";
  constexpr uint64_t kWhole = SymbolTable::kEntriesMax / Work::kAskedEach;
  EXPECT_GE(asked, kWhole - 1);
  EXPECT_LE(asked, kWhole + 10);
}

TEST(SymbolWork, EndsWhenNobodyWaits) {
  constexpr size_t kTable = size_t{8} << 30;
  const HollowFile hollow(program(one_symbol(), kTable), kTable + (size_t{1} << 20));
  ASSERT_FALSE(hollow.bytes().empty());
  const auto image = Image::parse(hollow.bytes(), nullptr, "test");
  ASSERT_TRUE(image);
  uint64_t asked = 0;
  const auto names = Names::read(*image, "", [&] { return ++asked > 3; });
  EXPECT_FALSE(names->function_at(0x1010));
  EXPECT_LE(asked, 10u);
}

/// Wherever it is told so, be it on the way or when the entries have been read.
TEST(SymbolWork, WhatIsThereIsWholeOrNothing) {
  std::vector<uint8_t> symbols;
  for (int i = 0; i < 600'000; ++i) {
    const std::vector<uint8_t> one = one_symbol();
    symbols.insert(symbols.end(), one.begin(), one.end());
  }
  const std::vector<uint8_t> bytes = program(symbols);
  const ElfFile file(bytes);
  uint64_t all = 0;
  SymbolTable whole;
  whole.read(file, {}, [&] {
    ++all;
    return false;
  });
  EXPECT_TRUE(whole.find_function(0x1010));
  ASSERT_GT(all, 100u);
  for (uint64_t last = 1; last < all; last += 7) {
    uint64_t asked = 0;
    SymbolTable table;
    table.read(file, {}, [&] { return ++asked >= last; });
    EXPECT_LE(asked, last + 3);
    const auto found = table.find_function(0x1010);
    EXPECT_TRUE(!found || found->name == "a");
  }
}

TEST(SymbolWork, ASearchForNamesEndsWhenNobodyWaits) {
  std::vector<uint8_t> symbols;
  for (int i = 0; i < 40'000; ++i) {
    const std::vector<uint8_t> one = one_symbol();
    symbols.insert(symbols.end(), one.begin(), one.end());
  }
  symbols[symbols.size() - kSymbolBytes] = 3;  // the last one is "b"
  const auto bytes = std::make_shared<std::vector<uint8_t>>(program(symbols));
  const auto image = Image::parse(*bytes, bytes, "test");
  ASSERT_TRUE(image);
  const auto names = Names::read(*image, "");
  Demangler demangler = names->demangler();
  EXPECT_EQ(names->find("b", demangler).size(), 1u);
  uint64_t asked = 0;
  EXPECT_EQ(names->find("b", demangler, [&] { return ++asked != 0; }).size(), 0u);
  EXPECT_EQ(asked, 1u);
}

TEST(SymbolWork, SortsAsOthersDo) {
  std::mt19937_64 random(1);
  constexpr size_t kPiece = size_t{1} << 18;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, kPiece, kPiece + 1, 2 * kPiece,
                            3 * kPiece + 5, 4 * kPiece, 5 * kPiece - 1}) {
    std::vector<uint64_t> got(size);
    for (uint64_t& one : got) one = random() % (2 * size + 1);
    std::vector<uint64_t> wanted = got;
    std::ranges::sort(wanted);
    EXPECT_TRUE(sort_unless({}, got, std::less<>()));
    EXPECT_EQ(got, wanted);
    uint64_t asked = 0;
    const auto stop = [&] { return ++asked != 0; };
    EXPECT_EQ(sort_unless(stop, got, std::less<>()), size <= kPiece);
    EXPECT_LE(asked, 1u);
  }
}

}  // namespace
}  // namespace tracewell::symbols
