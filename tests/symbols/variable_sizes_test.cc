// Sizes of variables, from debug information that a compiler wrote, against the symbol table of the
// same file; and where a PE file's symbols do not say them.
#include "symbols/dwarf/variable_sizes.h"

#include <elf.h>
#include <gelf.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "symbols/elf/elf_file.h"
#include "symbols/elf_builder.h"
#include "symbols/names.h"
#include "symbols/pe_builder.h"

namespace tracewell::symbols {
namespace {

TEST(VariableSizes, AgreeWithTheSymbolTable) {
  for (const std::string program : {"daily", "debuggee", "hammer", "families"}) {
    const auto image = Image::open(std::string(TRACEWELL_INFERIORS_DIR) + "/" + program);
    ASSERT_TRUE(image.ok());
    ElfFile file((*image)->file());
    std::shared_ptr<const void> owners[3];
    const auto contents = [&](std::string_view name, std::shared_ptr<const void>& owner) {
      const ElfFile::Section* const section = file.find(name);
      return section == nullptr ? Bytes() : file.contents(*section, owner);
    };
    Work work(kVariableWorkMax);
    const auto sizes = variable_sizes({contents(".debug_info", owners[0]),
                                       contents(".debug_abbrev", owners[1]),
                                       contents(".debug_addr", owners[2]), Endian::Little}, work);
    std::map<uint64_t, uint64_t> stated;
    const ElfFile::Section* const table = file.find(SHT_SYMTAB);
    ASSERT_NE(table, nullptr);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->bytes.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym one;
      std::memcpy(&one, table->bytes.data() + at, sizeof one);
      if (ELF64_ST_TYPE(one.st_info) == STT_OBJECT) stated[one.st_value] = one.st_size;
    }
    size_t compared = 0;
    for (const VariableSize& one : sizes) {
      const auto found = stated.find(one.address);
      if (found == stated.end()) continue;
      EXPECT_EQ(one.size, found->second) << program << std::hex << " " << one.address;
      ++compared;
    }
    EXPECT_GE(compared, 1u) << program;
  }
}

/// short counter[5] at 0x402008, in a unit of 32-bit DWARF 4.
TestPe with_array() {
  const std::string abbreviations =
      std::string("\x01\x11\x01\x00\x00", 5) +          // a unit, with children
      std::string("\x02\x24\x00\x0b\x0b\x00\x00", 7) +  // a base type: its size
      std::string("\x03\x01\x01\x49\x13\x00\x00", 7) +  // an array, with children: its type
      std::string("\x04\x21\x00\x2f\x0b\x00\x00", 7) +  // its upper bound
      std::string("\x05\x34\x00\x49\x13\x02\x18\x00\x00", 9) + std::string("\0", 1);
  std::string body = std::string("\x04\x00\0\0\0\0\x08\x01", 8);  // version, table, 8; the unit
  const auto reference = [](uint32_t to) {
    return std::string(1, static_cast<char>(to)) + std::string("\0\0\0", 3);
  };
  const auto at = [&] { return static_cast<uint32_t>(body.size() + 4); };
  const uint32_t type = at();
  body += "\x02\x02";
  const uint32_t array = at();
  body += "\x03" + reference(type);
  body += std::string("\x04\x04\x00", 3);  // and the end of its children
  body += "\x05" + reference(array) + std::string("\x09\x03\x08\x20\x40\0\0\0\0\0", 10);
  body += std::string("\0", 1);
  const std::string info = reference(static_cast<uint32_t>(body.size())) + body;
  const auto bytes = [](const std::string& text) {
    return std::vector<uint8_t>(text.begin(), text.end());
  };
  TestPe pe;
  pe.image_base = 0x400000;
  pe.sections = {{".text", 0x1000, TestPe::kText, std::vector<uint8_t>(0x100, 0x90)},
                 {".data", 0x2000, TestPe::kData, std::vector<uint8_t>(0x100, 0)},
                 {"/4", 0x3000, TestPe::kReadOnly, bytes(info)},
                 {"/16", 0x4000, TestPe::kReadOnly, bytes(abbreviations)}};
  // Names that are too long for a section stand among those of symbols, behind their size.
  pe.symbols = {{".debug_info", 0, 3, 3, false}, {".debug_abbrev", 0, 4, 3, false},
                {"counter", 0x8, 2, 2, false}};
  return pe;
}

TEST(VariableSizes, LimitTheNamesOfPeFiles) {
  auto owner = shared_bytes(with_array().build());
  auto image = Image::parse(*owner, owner, "test.exe");
  ASSERT_TRUE(image) << image.error().text();
  const auto names = Names::read(*image, "");
  ASSERT_TRUE(names->object_at(0x402008));
  EXPECT_EQ(names->object_at(0x402011)->offset, 9u);
  EXPECT_FALSE(names->object_at(0x402012)) << "a name reaches beyond its variable";
  ASSERT_EQ(names->find("counter").size(), 1u);
  EXPECT_EQ(names->find("counter")[0].size_bytes, 10u);
}

/// DWARF 2 of 64 bits, with its entries.
void add_unit(std::vector<uint8_t>& info, const std::string& entries) {
  ByteWriter to(info, Endian::Little);
  to.uint(7 + entries.size(), 4);
  to.uint(2, 2);
  to.uint(0, 4);
  to.uint(8, 1);
  info.insert(info.end(), entries.begin(), entries.end());
}

/// What one reads of `info` by these abbreviations, up to `work`.
size_t sizes_in(const std::vector<uint8_t>& info, const std::string& abbreviations, Work& work) {
  return variable_sizes({info, as_bytes(abbreviations), {}, Endian::Little}, work).size();
}

/// As few as eleven bytes each, behind one with as many entries as a unit may have.
TEST(VariableSizes, UnitsAreCounted) {
  constexpr size_t kUnits = 100'000, kEntries = 100'000;
  const std::string abbreviations("\x01\x24\x00\x0b\x0b\x00\x00\x00", 8);  // a type: its size
  std::vector<uint8_t> info;
  std::string entries;
  for (size_t i = 0; i < kEntries; ++i) entries += "\x01\x04";
  add_unit(info, entries);
  for (size_t i = 0; i < kUnits; ++i) add_unit(info, "");
  Work all(UINT64_MAX);
  sizes_in(info, abbreviations, all);
  EXPECT_GE(all.done(), kUnits + 2 * kEntries);
  EXPECT_LE(all.done(), kUnits + 2 * kEntries + 10);
  Work some(2 * kEntries + 1000);
  sizes_in(info, abbreviations, some);
  EXPECT_TRUE(some.over());
  EXPECT_LE(some.done(), 2 * kEntries + 1001);
  unsigned asked = 0;
  Work stopped(UINT64_MAX, [&] { return ++asked == 16; });
  sizes_in(info, abbreviations, stopped);
  EXPECT_EQ(asked, 16u) << "while units go by";
  EXPECT_EQ(stopped.done(), 16 * Work::kAskedEach);
}

/// A type that is its own, and many variables of it.
TEST(VariableSizes, StepsFromTypeToTypeAreCounted) {
  constexpr size_t kVariables = 1000;
  const std::string abbreviations =
      std::string("\x01\x16\x00\x49\x11\x00\x00", 7) +  // another name: its type, in a byte
      std::string("\x02\x34\x00\x49\x11\x02\x0a\x00\x00\x00", 10);  // a variable: type, place
  std::string entries = "\x01\x0b";
  for (size_t i = 0; i < kVariables; ++i)
    entries += std::string("\x02\x0b\x09\x03\0\0\0\0\0\0\0\0", 12);
  std::vector<uint8_t> info;
  add_unit(info, entries);
  Work all(UINT64_MAX);
  EXPECT_EQ(sizes_in(info, abbreviations, all), 0u);
  EXPECT_GE(all.done(), 64 * kVariables);
  Work some(10 * kVariables);
  sizes_in(info, abbreviations, some);
  EXPECT_LE(some.done(), 10 * kVariables + 2 * kVariables);
}

/// Tables that begin in each other are not all kept, and all that is read of them counts.
TEST(VariableSizes, TablesInTablesAreCounted) {
  constexpr size_t kTables = 50, kCodes = 10'000;
  std::string abbreviations;
  for (size_t i = 0; i < kCodes; ++i) abbreviations += std::string("\x01\x24\x00\x00\x00", 5);
  std::vector<uint8_t> info;
  for (size_t i = 0; i < kTables; ++i) {
    add_unit(info, "");
    info[info.size() - 5] = static_cast<uint8_t>(5 * i);
  }
  Work all(UINT64_MAX);
  sizes_in(info, abbreviations, all);
  EXPECT_GE(all.done(), kTables * (kCodes - kTables));
}

/// Who reads the names of a file whose author wants that to last is asked whether he still waits.
TEST(VariableSizes, NamesLookWhetherSomebodyWaits) {
  auto owner = shared_bytes(with_array().build());
  auto image = Image::parse(*owner, owner, "test.exe");
  ASSERT_TRUE(image);
  unsigned asked = 0;
  const auto names = Names::read(*image, "", [&] { return ++asked != 0; });
  EXPECT_EQ(asked, 1u) << "nothing more is read";
  EXPECT_TRUE(names->object_at(0x402008)) << "what was there by then";
}

TEST(VariableSizes, DamageIsSurvived) {
  const std::vector<uint8_t> bytes = with_array().build();
  for (size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] ^= static_cast<uint8_t>(1 << (at % 8));
    auto owner = shared_bytes(changed);
    if (auto image = Image::parse(*owner, owner, "test.exe"); image.ok())
      Names::read(*image, "")->object_at(0x402008);
  }
}

}  // namespace
}  // namespace tracewell::symbols
