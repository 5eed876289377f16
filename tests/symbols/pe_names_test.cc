#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/elf_builder.h"
#include "symbols/names.h"
#include "symbols/names/symbol_table.h"
#include "symbols/pe/pe_file.h"
#include "symbols/pe_builder.h"

namespace tracewell::symbols {
namespace {

std::shared_ptr<const Names> names_of(const TestPe& pe) {
  auto owner = shared_bytes(pe.build());
  auto image = Image::parse(*owner, owner, "test.dll");
  EXPECT_TRUE(image) << image.error().text();
  return Names::read(*image, "");
}

std::string text(const std::optional<SymbolPlace>& place) {
  return place ? place->name + "+" + std::to_string(place->offset) : "";
}

TestPe small_dll() {
  TestPe pe;
  pe.image_base = 0x180000000;
  pe.sections = {{".text", 0x1000, TestPe::kText, std::vector<uint8_t>(0x200, 0x90)},
                 {".data", 0x2000, TestPe::kData, std::vector<uint8_t>(0x100, 0)}};
  return pe;
}

TEST(PeNames, Exports) {
  TestPe pe = small_dll();
  // The last is forwarded to another library: it points to text in the directory.
  pe.add_exports({{"Alpha", 0x1010}, {"?beta@@YAHH@Z", 0x1080}, {"table", 0x2010},
                  {"Elsewhere", 0x3000}});
  const auto names = names_of(pe);
  EXPECT_EQ(text(names->function_at(0x180001010)), "Alpha+0");
  EXPECT_EQ(text(names->function_at(0x18000107f)), "Alpha+111");
  EXPECT_EQ(text(names->function_at(0x180001085)), "?beta@@YAHH@Z+5");
  EXPECT_EQ(text(names->function_at(0x18000100f)), "");
  EXPECT_EQ(text(names->object_at(0x180002012)), "table+2");
  EXPECT_EQ(text(names->function_at(0x180002012)), "");
  EXPECT_EQ(text(names->object_at(0x180003000)), "");
  EXPECT_FALSE(names->line_at(0x180001010));
}

TEST(PeNames, CoffSymbols) {
  TestPe pe = small_dll();
  pe.symbols = {{".file", 0, 0xfffe, 103, false, 1},
                {".text", 0, 1, 3, false, 1},
                {"eightchr", 0x10, 1, 2, true},
                {"a_name_of_more_than_eight", 0x20, 1, 3, true, 1},
                {"_ZN4book5matchEi", 0x30, 1, 2, true},
                {"label", 0x40, 1, 6, false},
                {"counter", 0x8, 2, 3, false},
                {"undefined", 0x50, 0, 2, true},
                {"outside", 0x5000, 1, 2, true},
                {"absolute", 0x60, 0xffff, 2, false}};
  const auto names = names_of(pe);
  EXPECT_EQ(text(names->function_at(0x180001000)), "");
  EXPECT_EQ(text(names->function_at(0x180001011)), "eightchr+1");
  EXPECT_EQ(text(names->function_at(0x180001020)), "a_name_of_more_than_eight+0");
  EXPECT_EQ(text(names->function_at(0x180001031)), "book::match(int)+1");
  EXPECT_EQ(text(names->function_at(0x180001070)), "label+48");
  EXPECT_EQ(text(names->object_at(0x180002009)), "counter+1");
}

TEST(PeNames, UnderscoresOfThirtyTwoBits) {
  TestPe pe = small_dll();
  pe.is_64 = false;
  pe.image_base = 0x400000;
  pe.symbols = {{"_main", 0x10}, {"_eightch", 0x20}, {"_WinMain@16", 0x30}, {"start", 0x40}};
  const auto names = names_of(pe);
  EXPECT_EQ(text(names->function_at(0x401010)), "main+0");
  EXPECT_EQ(text(names->function_at(0x401020)), "eightch+0");
  EXPECT_EQ(text(names->function_at(0x401030)), "WinMain@16+0");
  EXPECT_EQ(text(names->function_at(0x401040)), "start+0");
}

/// Zeros name the first function of all, and the file's head: a table in a hole has any number.
TEST(PeNames, ExportsInAHoleAreFew) {
  constexpr size_t kHole = size_t{8} << 20;
  TestPe pe = small_dll();
  const uint32_t directory = pe.next_rva();
  std::vector<uint8_t> out(20);
  for (const uint32_t value : {1u, uint32_t{kHole / 4}, directory + 40, directory + 44,
                               directory + 44})
    ByteWriter(out, Endian::Little).uint(value, 4);
  ByteWriter(out, Endian::Little).uint(0x1010, 4);
  out.resize(kHole);
  pe.tables[TestPe::kExports] = {directory, 40};
  pe.sections.push_back({".edata", directory, TestPe::kReadOnly, std::move(out), 0});
  const std::vector<uint8_t> bytes = pe.build();
  const auto file = PeFile::parse(bytes);
  ASSERT_TRUE(file);
  SymbolTable table;
  table.read(*file);
  EXPECT_TRUE(table.find_function(0x180001010));
  EXPECT_LE(table.find_named([](std::string_view) { return true; }).size(), size_t{1} << 17);
}

// Every number of the two tables damaged in turn: names may vanish, and that is all.
TEST(PeNames, DamagedTablesAreSurvived) {
  TestPe pe = small_dll();
  pe.symbols = {{"first", 0x10}, {"a_name_of_more_than_eight", 0x20}};
  pe.add_exports({{"Alpha", 0x1010}, {"Beta", 0x1080}});
  const std::vector<uint8_t> sound = pe.build();
  int named = 0;
  for (size_t at = 0x80; at < sound.size(); ++at)
    for (uint8_t value : {0x00, 0x7f, 0xff}) {
      auto owner = shared_bytes(sound);
      (*owner)[at] = value;
      auto image = Image::parse(*owner, owner, "test");
      if (!image) continue;
      const auto names = Names::read(*image, "");
      const uint64_t base = (*image)->facts().link_base;
      for (uint64_t rva = 0x1000; rva < 0x1100; rva += 8)
        named += names->function_at(base + rva).has_value();
    }
  EXPECT_GT(named, 10000);
}

}  // namespace
}  // namespace tracewell::symbols
