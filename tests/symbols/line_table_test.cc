#include "symbols/dwarf/line_table.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <time.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "symbols/image.h"
#include "symbols/names.h"
#include "symbols/names/range_index.h"

namespace tracewell::symbols {
namespace {

RangeIndex code(uint64_t start = 0x1000, uint64_t end = 0x9000) {
  RangeIndex index;
  index.add(start, end, 0);
  index.build();
  return index;
}

/// One unit of .debug_line, version 4 or 5.
struct Unit {
  Endian endian = Endian::Little;
  uint16_t version = 4;
  bool is_64 = false;  // the DWARF format, not the machine
  uint8_t line_range = 14;
  uint8_t opcode_base = 13;
  std::vector<uint8_t> tables;  // "" = one file, a.c in src
  std::vector<uint8_t> code;

  std::vector<uint8_t> build() const {
    const size_t word = is_64 ? 8 : 4;
    std::vector<uint8_t> header;
    ByteWriter to_header(header, endian);
    // One byte an instruction, one operation in it, statements, and the line base.
    for (const int one : {1, 1, 1, -5}) to_header.uint(static_cast<uint8_t>(one), 1);
    to_header.uint(line_range, 1);
    to_header.uint(opcode_base, 1);
    const std::vector<uint8_t> counts = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    for (int i = 0; i + 1 < opcode_base; ++i) header.push_back(i < 12 ? counts[i] : 0);
    to_header.bytes(tables.empty() ? usual_tables() : tables);

    std::vector<uint8_t> rest;
    ByteWriter to_rest(rest, endian);
    to_rest.uint(version, 2);
    if (version >= 5) to_rest.uint(8, 1), to_rest.uint(0, 1);
    to_rest.uint(header.size(), word);
    to_rest.bytes(header);
    to_rest.bytes(code);

    std::vector<uint8_t> out;
    ByteWriter to_out(out, endian);
    if (is_64) to_out.uint(UINT32_MAX, 4);
    to_out.uint(rest.size(), word);
    to_out.bytes(rest);
    return out;
  }

  std::vector<uint8_t> usual_tables() const {
    std::string_view text("src\0\0a.c\0\1\0\0\0", 13);
    // A folder (a string), then two files: a string, a folder's number and 16 bytes of checksum.
    if (version >= 5)
      text = std::string_view("\1\1\x08\1src\0" "\3\1\x08\2\x0b\5\x1e\2"
                              "zero.c\0\0" "0123456789abcdef"
                              "/x/a.c\0\0" "0123456789abcdef", 64);
    return {text.begin(), text.end()};
  }

  void bytes(std::initializer_list<int> all) {
    for (const int one : all) code.push_back(static_cast<uint8_t>(one));
  }
  void set_address(uint64_t address) {
    bytes({0, 9, 2});
    ByteWriter(code, endian).uint(address, 8);
  }
  void copy() { bytes({1}); }
  void advance(int instructions) { bytes({2, instructions}); }
  void line(int by) { bytes({3, by & 0x7f}); }
  void end() { bytes({0, 1, 1}); }
};

/// "file:line", or "".
std::string at(const LineTable& table, uint64_t address) {
  const auto found = table.find(address);
  return found ? fmt::format("{}:{}", found->file, found->line) : "";
}

/// `store` lives as long as the table is used.
LineTable read(const std::vector<uint8_t>& store, Endian endian = Endian::Little) {
  LineTable table;
  LineSections sections;
  sections.line = store;
  sections.endian = endian;
  Work work(LineTable::kWorkMax);
  table.read(sections, code(), work);
  return table;
}

TEST(LineTable, VersionsAndByteOrders) {
  for (const Endian endian : {Endian::Little, Endian::Big}) {
    for (const uint16_t version : {4, 5}) {
      for (const bool is_64 : {false, true}) {
        Unit unit;
        unit.endian = endian;
        unit.version = version;
        unit.is_64 = is_64;
        unit.set_address(0x2000);
        unit.line(9);
        unit.copy();              // 2000: 10
        unit.bytes({13 + 5 + 14 * 4 + 2});  // 2004: 12
        unit.bytes({8});          // const_add_pc: 17 more
        unit.bytes({9, 1, 1});    // fixed_advance_pc: 257 more, in either order
        unit.line(-3);
        unit.copy();              // 2116: 9
        unit.bytes({5, 3, 6, 7, 10, 11, 12, 1, 0, 2, 4, 1});  // what changes none of it
        unit.advance(4);
        unit.end();               // 211a
        const auto bytes = unit.build();
        const LineTable table = read(bytes, endian);
        EXPECT_EQ(at(table, 0x1fff), "");
        EXPECT_EQ(at(table, 0x2000), "a.c:10");
        EXPECT_EQ(at(table, 0x2003), "a.c:10");
        EXPECT_EQ(at(table, 0x2004), "a.c:12");
        EXPECT_EQ(at(table, 0x2115), "a.c:12");
        EXPECT_EQ(at(table, 0x2116), "a.c:9");
        EXPECT_EQ(at(table, 0x2119), "a.c:9");
        EXPECT_EQ(at(table, 0x211a), "");
      }
    }
  }
}

TEST(LineTable, TheLastRowOfAnAddressCounts) {
  Unit unit;
  unit.set_address(0x2000);
  unit.copy();
  unit.line(1);
  unit.copy();
  unit.advance(1);
  unit.line(-2);
  unit.copy();  // line 0: from no line at all
  unit.advance(1);
  unit.bytes({4, 7});  // a file that is not there
  unit.line(5);
  unit.copy();
  unit.advance(1);
  unit.end();
  const auto bytes = unit.build();
  const LineTable table = read(bytes);
  EXPECT_EQ(at(table, 0x2000), "a.c:2");
  EXPECT_EQ(at(table, 0x2001), "");
  EXPECT_EQ(at(table, 0x2002), "");
}

// Long sequences are read in parts; many rows at one address are no part of their own.
TEST(LineTable, LongSequences) {
  Unit unit;
  unit.set_address(0x2000);
  for (int i = 0; i < 5000; ++i) {
    unit.line(1);
    unit.copy();
    if (i >= 1000) unit.advance(2);
  }
  unit.end();
  const auto bytes = unit.build();
  const LineTable table = read(bytes);
  EXPECT_EQ(at(table, 0x1fff), "");
  EXPECT_EQ(at(table, 0x2000), "a.c:1002");
  for (uint64_t i = 0; i < 8000; ++i)
    ASSERT_EQ(at(table, 0x2000 + i), fmt::format("a.c:{}", 1002 + i / 2));
  EXPECT_EQ(at(table, 0x2000 + 8000), "");
}

/// Opcodes that change nothing stand before each row.
Unit with_idle_rows(int rows, size_t idle_bytes, int advance) {
  Unit unit;
  unit.set_address(0x2000);
  for (int i = 0; i < rows; ++i) {
    unit.code.insert(unit.code.end(), idle_bytes, 6);
    unit.line(1);
    unit.copy();
    unit.advance(advance);
  }
  unit.advance(1);
  unit.end();
  return unit;
}

TEST(LineTable, LongRows) {
  for (const size_t idle_bytes : {30u, 40u, 1000u, 4000u}) {
    const auto bytes = with_idle_rows(300, idle_bytes, 2).build();
    const LineTable table = read(bytes);
    EXPECT_EQ(at(table, 0x1fff), "");
    for (uint64_t i = 0; i < 600; ++i)
      ASSERT_EQ(at(table, 0x2000 + i), fmt::format("a.c:{}", 2 + i / 2)) << idle_bytes;
    EXPECT_EQ(at(table, 0x2000 + 601), "");
  }
}

uint64_t cpu_nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// Half a megabyte before the last row of a stretch: it would be run for each address again.
TEST(LineTable, ALookUpRunsLittleOfAProgram) {
  constexpr int kLookUps = 200;
  const auto bytes = with_idle_rows(127, 4080, 0).build();
  const uint64_t begin = cpu_nanoseconds();
  const LineTable table = read(bytes);
  const uint64_t has_read = cpu_nanoseconds();
  for (int i = 0; i < kLookUps; ++i) ASSERT_EQ(at(table, 0x2000), "a.c:128");
  const uint64_t of_look_ups = cpu_nanoseconds() - has_read;
  EXPECT_LT(of_look_ups, (has_read - begin) * kLookUps / 4);
}

// The linker leaves lines of functions that it dropped, at address 0 or 1.
TEST(LineTable, OnlyWhereCodeIs) {
  Unit unit;
  unit.set_address(0);
  unit.copy();
  unit.bytes({2, 0x80, 0x80, 1});  // 0x4000
  unit.end();
  unit.set_address(0x2000);
  unit.line(6);
  unit.copy();
  unit.advance(4);
  unit.end();
  const auto bytes = unit.build();
  const LineTable table = read(bytes);
  EXPECT_EQ(at(table, 0x1000), "");
  EXPECT_EQ(at(table, 0x2000), "a.c:7");
  EXPECT_EQ(at(table, 0x3000), "");
}

TEST(LineTable, SeveralUnits) {
  std::vector<uint8_t> all;
  for (int i = 0; i < 3; ++i) {
    Unit unit;
    unit.version = i == 1 ? 6 : 4;  // not known
    unit.set_address(0x2000 + static_cast<uint64_t>(i) * 0x100);
    unit.line(10 + i);
    unit.copy();
    unit.advance(4);
    unit.end();
    const auto one = unit.build();
    all.insert(all.end(), one.begin(), one.end());
    all.insert(all.end(), 4, 0);
  }
  const LineTable table = read(all);
  EXPECT_EQ(at(table, 0x2000), "a.c:11");
  EXPECT_EQ(at(table, 0x2100), "");
  EXPECT_EQ(at(table, 0x2200), "a.c:13");
}

TEST(LineTable, HostileUnits) {
  Unit sound;
  sound.set_address(0x2000);
  sound.copy();
  sound.advance(4);
  sound.end();
  const auto seen = [](const Unit& unit) {
    const auto bytes = unit.build();
    return at(read(bytes), 0x2000);
  };
  EXPECT_EQ(seen(sound), "a.c:1");

  Unit zero = sound;
  zero.line_range = 0;
  EXPECT_EQ(seen(zero), "");
  zero = sound;
  zero.opcode_base = 0;
  EXPECT_EQ(seen(zero), "");

  // A table of 2^63 files of no columns at all, and one of 2^63 files that are not there.
  Unit many = sound;
  many.version = 5;
  many.tables = {0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  EXPECT_EQ(seen(many), "");
  many.tables = {0, 0, 1, 1, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'a', 0};
  EXPECT_EQ(seen(many), "");
  many.tables = {0, 0, 1, 1, 0x1f, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};  // texts elsewhere
  EXPECT_EQ(seen(many), "");
  many.tables = std::vector<uint8_t>(40, 0x80);  // a kind of column that is no number
  many.tables[0] = 1;
  many.tables[20] = 0;
  EXPECT_EQ(seen(many), "");

  Unit back = sound;
  back.code.clear();
  back.set_address(0x2000);
  back.copy();
  back.set_address(0x1800);
  back.copy();
  back.advance(4);
  back.end();
  EXPECT_EQ(seen(back), "");

  Unit idle = sound;  // a megabyte before the first row
  idle.code.insert(idle.code.begin(), 1 << 20, 6);
  EXPECT_EQ(seen(idle), "");
  Unit padded = sound;  // a number that does not end
  padded.code.insert(padded.code.begin(), 100, 0x80);
  padded.code.insert(padded.code.begin(), 2);
  EXPECT_EQ(seen(padded), "");
}

/// Programs, rows, and names by the bytes that have to be looked at: whoever makes a file can have
/// thousands of these for four of his own.
TEST(LineTable, WhatIsReadIsCountedAndBounded) {
  constexpr size_t kRows = 1000, kNames = 1000, kLong = 4000;
  Unit unit;
  unit.version = 5;
  // Names in .debug_line_str, all at its begin.
  unit.tables = {0, 0, 1, 1, 0x1f, (kNames & 0x7f) | 0x80, kNames >> 7};
  unit.tables.resize(unit.tables.size() + 4 * kNames);
  unit.set_address(0x2000);
  for (size_t i = 0; i < kRows; ++i) {
    unit.advance(1);
    unit.copy();
  }
  unit.end();
  const std::vector<uint8_t> bytes = unit.build();
  std::vector<uint8_t> text(kLong, 'a');
  const auto work_of = [&](size_t name_bytes, uint64_t most) {
    text[name_bytes] = 0;
    LineSections sections;
    sections.line = bytes;
    sections.line_texts = Bytes(text).first(name_bytes + 1);
    Work work(most);
    LineTable table;
    table.read(sections, code(), work);
    EXPECT_EQ(table.empty(), most != UINT64_MAX);
    EXPECT_EQ(work.over(), most != UINT64_MAX);
    return work.done();
  };
  const uint64_t long_names = work_of(kLong - 1, UINT64_MAX);
  EXPECT_LE(work_of(kLong - 1, kNames), kNames + kLong) << "it ends where there is no more";
  const uint64_t short_names = work_of(1, UINT64_MAX);
  EXPECT_GE(short_names, kRows + kNames);
  EXPECT_LE(short_names, kRows + kNames + 10);
  EXPECT_GE(long_names, short_names + kNames * kLong / 20);
}

TEST(LineTable, BytesOfRowsAreCounted) {
  const auto bytes = with_idle_rows(100, 4000, 1).build();
  LineSections sections;
  sections.line = bytes;
  Work work(LineTable::kWorkMax);
  LineTable table;
  table.read(sections, code(), work);
  EXPECT_GE(work.done(), bytes.size() / 20);
  EXPECT_LE(work.done(), bytes.size() / 10);
}

/// Units of four bytes, which are nothing.
TEST(LineTable, AStopIsAskedForWhileUnitsGoBy) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < size_t{1} << 17; ++i)  // of a version that is not known
    for (const uint8_t byte : {2, 0, 0, 0, 9, 0}) bytes.push_back(byte);
  LineSections sections;
  sections.line = bytes;
  unsigned asked = 0;
  Work work(LineTable::kWorkMax, [&] { return ++asked == 3; });
  LineTable table;
  table.read(sections, code(), work);
  EXPECT_EQ(asked, 3u);
  EXPECT_EQ(work.done(), 3 * Work::kAskedEach);
}

/// Of a section, most may be a hole.
TEST(LineTable, ZerosWithoutEndAreLeft) {
  const std::vector<uint8_t> bytes(size_t{4} << 17, 0);
  LineSections sections;
  sections.line = bytes;
  Work work(LineTable::kWorkMax, {});
  LineTable table;
  table.read(sections, code(), work);
  EXPECT_LT(work.done(), 10000u);
}

TEST(LineTable, DamagedSectionsAreSurvived) {
  Unit unit;
  unit.version = 5;
  unit.set_address(0x2000);
  for (int i = 0; i < 40; ++i) unit.bytes({20 + i * 5});
  unit.end();
  auto sound = unit.build();
  unit.version = 4;
  const auto second = unit.build();
  sound.insert(sound.end(), second.begin(), second.end());
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = sound;
    for (int i = 1 + static_cast<int>(random() % 4); i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const LineTable table = read(bytes);
    for (uint64_t address = 0x2000; address < 0x2100; address += 16)
      found += table.find(address).has_value();
  }
  EXPECT_GT(found, 10000);
}

/// What libdw says of an address, "file:line" or "".
std::string peer(Dwarf* dwarf, uint64_t address) {
  Dwarf_Die unit;
  if (dwarf_addrdie(dwarf, address, &unit) == nullptr) return "";
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number == 0) return "";
  const std::string_view path = dwarf_linesrc(line, nullptr, nullptr);
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), number);
}

TEST(LineTable, AgreesWithLibdw) {
  int told = 0;
  for (const char* name : {"hit_storm", "debuggee", "traced_threads", "vectors"}) {
    const std::string path = fmt::format("{}/{}", TRACEWELL_INFERIORS_DIR, name);
    const auto image = Image::open(path);
    ASSERT_TRUE(image) << image.error().text();
    const auto names = Names::read(*image, "");
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Dwarf* dwarf = dwarf_begin(file.get(), DWARF_C_READ);
    ASSERT_NE(dwarf, nullptr);
    for (const ImageRange& range : (*image)->read_only()) {
      for (uint64_t address = range.address; address < range.end(); ++address) {
        const auto line = names->line_at(address);
        const std::string ours = line ? fmt::format("{}:{}", line->file, line->line) : "";
        ASSERT_EQ(ours, peer(dwarf, address)) << name << " " << address;
        told += line.has_value();
      }
    }
    dwarf_end(dwarf);
  }
  EXPECT_GT(told, 2000);
}

TEST(RangeIndex, TheInnermostThenTheFirst) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    struct Range {
      uint64_t start, end;
    };
    std::vector<Range> all;
    RangeIndex index;
    for (uint32_t i = 0; i < random() % 12; ++i) {
      all.push_back({random() % 24, random() % 24});
      if (random() % 16 == 0) all.back().end = UINT64_MAX;
      index.add(all.back().start, all.back().end, i);
    }
    index.build();
    for (uint64_t address = 0; address < 26; ++address) {
      std::optional<uint32_t> expected;
      for (uint32_t i = 0; i < all.size(); ++i)
        if (all[i].start <= address && address < all[i].end &&
            (!expected || all[i].start > all[*expected].start))
          expected = i;
      ASSERT_EQ(index.find(address), expected) << "round " << round << ", address " << address;
    }
  }
}

}  // namespace
}  // namespace tracewell::symbols
