// Names of what leads to other images. What they are to be in ELF files is told by objdump, which
// reads the same tables.
#include "symbols/names/import_names.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "little_memory.h"
#include "symbols/elf_builder.h"
#include "symbols/names.h"
#include "symbols/pe_builder.h"

namespace tracewell::symbols {
namespace {

std::string place_text(const std::optional<SymbolPlace>& place) {
  return place ? place->name + "+" + std::to_string(place->offset) : "";
}

/// "ADDRESS <NAME@plt>:" of each entry of a table of jumps.
std::map<uint64_t, std::string> by_objdump(const std::string& file) {
  std::map<uint64_t, std::string> out;
  const std::string command = "objdump -d -j .plt -j .plt.got -j .plt.sec -j .iplt " + file +
                              " 2>/dev/null";
  std::FILE* const said = popen(command.c_str(), "r");
  char line[4096];
  while (std::fgets(line, sizeof line, said) != nullptr) {
    unsigned long address = 0;
    char name[2048] = {};
    if (std::sscanf(line, "%lx <%2047[^>]>:", &address, name) != 2) continue;
    const std::string text = name;
    if (text.ends_with("@plt") && !text.starts_with("*ABS*")) out[address] = text;
  }
  pclose(said);
  return out;
}

class PltOf : public testing::TestWithParam<const char*> {};

TEST_P(PltOf, AgreesWithObjdump) {
  const std::string file = std::string(TRACEWELL_INFERIORS_DIR) + "/" + GetParam();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "there are no programs of 32 bits here";
  const auto image = Image::open(file);
  ASSERT_TRUE(image.ok()) << image.error().text();
  const auto names = Names::read(*image, "");
  const auto wanted = by_objdump(file);
  ASSERT_GE(wanted.size(), 1u);
  for (const auto& [address, name] : wanted) {
    EXPECT_EQ(place_text(names->function_at(address)), name + "+0") << std::hex << address;
    EXPECT_EQ(place_text(names->function_at(address + 5)), name + "+5") << std::hex << address;
    const auto found = names->find(name);
    ASSERT_FALSE(found.empty()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, PltOf,
                         testing::Values("debuggee", "fast", "program_32_fixed", "program_32",
                                         "daily", "libdaily.so"),
                         [](const auto& info) {
                           std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

/// What the C library chooses by the processor is reached like others' functions, also where there
/// are no others.
TEST(ImportNames, OfAStaticProgram) {
  const auto image = Image::open(std::string(TRACEWELL_INFERIORS_DIR) + "/static_locals");
  ASSERT_TRUE(image.ok());
  const auto names = Names::read(*image, "");
  const ElfFile file((*image)->file());
  const ElfFile::Section* plt = file.find(".plt");
  if (plt == nullptr) plt = file.find(".iplt");
  ASSERT_NE(plt, nullptr);
  size_t named = 0;
  for (uint64_t at = plt->address; at < plt->address + plt->size; at += 16) {
    const auto found = names->function_at(at);
    named += found && found->name.ends_with("@plt");
  }
  EXPECT_GE(named, 3u);
  EXPECT_FALSE(names->find("strchr@plt").empty() && names->find("memcpy@plt").empty() &&
               names->find("strlen@plt").empty());
}

void put(std::vector<uint8_t>& bytes, size_t at, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}
void put(std::vector<uint8_t>& bytes, size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
}

/// Two functions of KERNEL32.dll, one by its number, and a jump to the first at 0x1010.
TestPe importing(bool is_64) {
  const size_t word = is_64 ? 8 : 4;
  TestPe pe;
  pe.is_64 = is_64;
  pe.image_base = 0x400000;
  std::vector<uint8_t> text(0x100, 0x90), data(0x200, 0);
  put(text, 0x10, "\xff\x25");
  put(text, 0x12, is_64 ? 0x2080 - 0x1016 : 0x400000 + 0x2080, 4);
  put(data, 0x00, 0x2040, 4);   // names
  put(data, 0x0c, 0x2100, 4);   // library
  put(data, 0x10, 0x2080, 4);   // words
  put(data, 0x40, 0x2120, word);
  put(data, 0x40 + word, (uint64_t{1} << (8 * word - 1)) | 115, word);
  put(data, 0x100, "KERNEL32.dll");
  put(data, 0x122, "CreateFileW");
  pe.sections = {{".text", 0x1000, TestPe::kText, text}, {".idata", 0x2000, TestPe::kData, data}};
  pe.tables[1] = {0x2000, 40};
  return pe;
}

TEST(ImportNames, OfWindows) {
  for (const bool is_64 : {true, false}) {
    auto owner = shared_bytes(importing(is_64).build());
    auto image = Image::parse(*owner, owner, "test.exe");
    ASSERT_TRUE(image) << image.error().text();
    const auto names = Names::read(*image, "");
    const uint64_t word = is_64 ? 8 : 4;
    EXPECT_EQ(place_text(names->object_at(0x402080)), "KERNEL32!CreateFileW+0");
    EXPECT_EQ(place_text(names->object_at(0x402080 + word - 1)),
              "KERNEL32!CreateFileW+" + std::to_string(word - 1));
    EXPECT_EQ(place_text(names->object_at(0x402080 + word)), "KERNEL32!#115+0");
    EXPECT_EQ(place_text(names->object_at(0x402080 + 2 * word)), "");
    EXPECT_EQ(place_text(names->function_at(0x401010)), "KERNEL32!CreateFileW+0");
    EXPECT_EQ(place_text(names->function_at(0x401015)), "KERNEL32!CreateFileW+5");
    EXPECT_EQ(place_text(names->function_at(0x401016)), "");
    ASSERT_EQ(names->find("KERNEL32!CreateFileW").size(), 2u);
    EXPECT_EQ(names->find("KERNEL32!#115").size(), 1u);
    EXPECT_TRUE(names->find("KERNEL32!#11").empty());
  }
}

TEST(ImportNames, DamagedTablesAreSurvived) {
  const TestPe pe = importing(true);
  const std::vector<uint8_t> bytes = pe.build();
  for (size_t at = 0; at < bytes.size(); at += 3) {
    auto changed = bytes;
    changed[at] ^= 0xff;
    auto owner = shared_bytes(changed);
    if (auto image = Image::parse(*owner, owner, "test.exe"); image.ok())
      Names::read(*image, "")->function_at(0x401010);
  }
}

/// A relocation without an addend says where that stands: here in front of the section at address
/// 0, were its place taken as a number that goes round. There is the address of a function.
TEST(ImportNames, PlacesAtTheEndOfAllAddressesAreInNoSection) {
  constexpr uint64_t kPlt = 0x10000, kFunction = 0x1010;
  for (const uint64_t place : {uint64_t{0}, UINT64_MAX - 7}) {
    TestElf elf;
    elf.segments = {{0, 0x1000, PF_R, 0}, {0x1000, 0x1000, PF_R | PF_X, 0x90}};
    const std::vector<uint8_t> code(32, 0x90);
    std::vector<uint8_t> before(8), relocations, jumps, symbols(24), texts = {0, 'f', 0};
    put(before, 0, kFunction, 8);
    ByteWriter relocation(relocations, Endian::Little), jump(jumps, Endian::Little);
    relocation.uint(place, 8);
    relocation.uint(R_X86_64_IRELATIVE, 8);
    jump.uint(0x25ff, 2);
    jump.uint((place - (kPlt + 6)) & UINT32_MAX, 4);
    jumps.resize(16);
    ByteWriter symbol(symbols, Endian::Little);
    symbol.uint(1, 4);
    symbol.uint(STT_FUNC | STB_GLOBAL << 4, 2);
    symbol.uint(6, 2);  // in .text
    symbol.uint(kFunction, 8);
    symbol.uint(16, 8);
    elf.sections = {{"before", SHT_PROGBITS, 0, 0, before},
                    {"first", SHT_PROGBITS, SHF_ALLOC, 0, before},
                    {".rel.plt", SHT_REL, SHF_ALLOC, 0x100, relocations, 4, 16},
                    {".dynsym", SHT_DYNSYM, SHF_ALLOC, 0x200, symbols, 5, 24},
                    {".dynstr", SHT_STRTAB, SHF_ALLOC, 0x300, texts},
                    {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code},
                    {".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kPlt, jumps, 0, 16}};
    auto owner = shared_bytes(elf.build());
    const auto image = Image::parse(*owner, owner, "test.so");
    ASSERT_TRUE(image) << image.error().text();
    EXPECT_EQ(place_text(Names::read(*image, "")->function_at(kPlt)), place == 0 ? "f@plt+0" : "");
  }
}

/// Relocations that all name one symbol, and an entry of the table of jumps for each.
std::vector<uint8_t> elf_of_one_name(size_t count, const std::string& name) {
  constexpr uint64_t kPlt = 0x10000, kWords = 0x400000;
  TestElf elf;
  elf.segments = {{0, 0x1000, PF_R, 0}};
  std::vector<uint8_t> relocations, jumps, symbols(24), texts(1);
  texts.insert(texts.end(), name.begin(), name.end());
  texts.push_back(0);
  ByteWriter symbol(symbols, Endian::Little);
  symbol.uint(1, 4);
  symbols.resize(48);
  ByteWriter relocation(relocations, Endian::Little), jump(jumps, Endian::Little);
  for (size_t i = 0; i < count; ++i) {
    relocation.uint(kWords + 8 * i, 8);
    relocation.uint(uint64_t{1} << 32 | R_X86_64_JUMP_SLOT, 8);
    relocation.uint(0, 8);
    jump.uint(0x25ff, 2);
    jump.uint(kWords + 8 * i - (kPlt + 16 * i + 6), 4);
    jumps.resize(jumps.size() + 10);
  }
  elf.sections = {{".rela.plt", SHT_RELA, SHF_ALLOC, 0, relocations, 2, 24},
                  {".dynsym", SHT_DYNSYM, SHF_ALLOC, 0, symbols, 3, 24},
                  {".dynstr", SHT_STRTAB, SHF_ALLOC, 0, texts},
                  {".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kPlt, jumps, 0, 16}};
  return elf.build();
}

TEST(ImportNames, ManyOfOneLongNameTakeNoCopies) {
  const size_t count = 10000;
  const std::string name(60000, 'A');
  auto owner = shared_bytes(elf_of_one_name(count, name));
  const auto image = Image::parse(*owner, owner, "test.so");
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_IN_MEMORY(64 << 20, {
    const auto names = Names::read(*image, "");
    EXPECT_EQ(place_text(names->function_at(0x10000)), name + "@plt+0");
    EXPECT_EQ(place_text(names->function_at(0x10000 + 16 * (count - 1) + 3)), name + "@plt+3");
    EXPECT_EQ(names->find(name + "@plt").size(), count);
    EXPECT_TRUE(names->find(name.substr(1) + "@plt").empty());
    EXPECT_TRUE(names->find(name + "A@plt").empty());
  });
}

TEST(ImportNames, ManyOfOneLongNameOfWindowsTakeNoCopies) {
  const size_t count = 10000;
  const std::string name(60000, 'A');
  TestPe pe;
  pe.image_base = 0x400000;
  std::vector<uint8_t> data(0x100);
  put(data, 0x00, 0x2100, 4);                          // names
  put(data, 0x0c, 0x2080, 4);                          // library
  put(data, 0x10, 0x2100, 4);                          // words
  put(data, 0x80, "KERNEL32.dll");
  const uint64_t text = 0x2100 + 8 * (count + 1);
  ByteWriter words(data, Endian::Little);
  for (size_t i = 0; i < count; ++i) words.uint(text, 8);
  words.uint(0, 8);
  words.uint(0, 2);  // a hint
  data.insert(data.end(), name.begin(), name.end());
  data.push_back(0);
  pe.sections = {{".text", 0x1000, TestPe::kText, std::vector<uint8_t>(0x100, 0x90)},
                 {".idata", 0x2000, TestPe::kData, data}};
  pe.tables[1] = {0x2000, 40};
  auto owner = shared_bytes(pe.build());
  const auto image = Image::parse(*owner, owner, "test.exe");
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_IN_MEMORY(64 << 20, {
    const auto names = Names::read(*image, "");
    EXPECT_EQ(place_text(names->object_at(0x402100)), "KERNEL32!" + name + "+0");
    EXPECT_EQ(place_text(names->object_at(0x402100 + 8 * (count - 1) + 1)),
              "KERNEL32!" + name + "+1");
    EXPECT_EQ(names->find("KERNEL32!" + name).size(), count);
    EXPECT_TRUE(names->find("KERNEL3!" + name).empty());
    EXPECT_TRUE(names->find(name).empty());
  });
}

}  // namespace
}  // namespace tracewell::symbols
