#include "symbols/elf/unwind_table.h"

#include <algorithm>
#include <random>
#include <vector>

#include <elfutils/libdw.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "symbols/elf/elf_file.h"

namespace tracewell::symbols {
namespace {

struct Table {
  std::shared_ptr<InputFile> file;
  std::unique_ptr<ElfFile> elf;
  const ElfFile::Section* section = nullptr;
};

Table table_of(const char* path) {
  Table table;
  auto file = InputFile::open(path);
  if (!file.ok()) return table;
  table.file = *file;
  table.elf = std::make_unique<ElfFile>(table.file->bytes());
  table.section = table.elf->find(".eh_frame");
  return table;
}

std::vector<UnwindRange> ranges_of(Bytes section, uint64_t address) {
  std::vector<UnwindRange> ranges;
  each_unwind_range(section, address, [&](const UnwindRange& range) {
    ranges.push_back(range);
    return true;
  });
  return ranges;
}

std::vector<uint64_t> handlers_in(Bytes table, uint64_t address, uint64_t start) {
  Work work(UINT64_MAX);
  return read_handlers(table, address, start, work);
}

TEST(UnwindTable, AgreesWithLibdw) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/proc/self/exe"}) {
    const Table table = table_of(path);
    ASSERT_NE(table.section, nullptr) << path;
    const auto ranges = ranges_of(table.section->bytes, table.section->address);
    EXPECT_GT(ranges.size(), 500u);
    std::vector<uint8_t> copy(table.file->bytes().begin(), table.file->bytes().end());
    elf_version(EV_CURRENT);
    ::Elf* const peer = elf_memory(reinterpret_cast<char*>(copy.data()), copy.size());
    Dwarf_CFI* cfi = dwarf_getcfi_elf(peer);
    ASSERT_NE(cfi, nullptr);
    for (const UnwindRange& range : ranges) {
      Dwarf_Frame* frame = nullptr;
      ASSERT_EQ(dwarf_cfi_addrframe(cfi, range.start, &frame), 0) << std::hex << range.start;
      Dwarf_Addr start = 0, end = 0;
      dwarf_frame_info(frame, &start, &end, nullptr);
      free(frame);
      // What libdw gives is a row of the table.
      EXPECT_EQ(start, range.start);
      EXPECT_LE(end, range.end);
    }
    dwarf_cfi_end(cfi);
    size_t entries = 0;
    Dwarf_CFI_Entry entry;
    Dwarf_Off offset = 0, next = 0;
    const auto number = static_cast<size_t>(table.section - table.elf->sections().data());
    const auto* const ident = reinterpret_cast<const unsigned char*>(elf_getident(peer, nullptr));
    Elf_Data* const data = elf_getdata(elf_getscn(peer, number), nullptr);
    while (dwarf_next_cfi(ident, data, true, offset, &next, &entry) == 0) {
      entries += !dwarf_cfi_cie_p(&entry);
      offset = next;
    }
    EXPECT_EQ(ranges.size(), entries);
    elf_end(peer);
  }
}

TEST(UnwindTable, TheIndexSaysWhereItIs) {
  const Table table = table_of("/proc/self/exe");
  const auto* index = table.elf->find(".eh_frame_hdr");
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(unwind_table_of(index->bytes, index->address), table.section->address);
  EXPECT_EQ(unwind_table_of({}, 0x1000), 0u);
  EXPECT_EQ(unwind_table_of(index->bytes.first(3), index->address), 0u);
}

TEST(UnwindTable, Handlers) {
  // No landing base, no types; numbers in ULEB128: three calls, the second without a handler.
  const uint8_t bytes[] = {0xff, 0xff, 0x01, 12, 0x10, 5, 0x90, 0x01, 1,
                           0x20, 5,    0,    0,  0x30, 5, 0x40, 0,    99};
  EXPECT_EQ(handlers_in(bytes, 0x5000, 0x1000), (std::vector<uint64_t>{0x1090, 0x1040}));
  EXPECT_TRUE(handlers_in(Bytes(bytes).first(10), 0x5000, 0x1000).empty());
  // With types, and numbers of four bytes.
  const uint8_t wide[] = {0xff, 0x9b, 0x15, 0x03, 13, 0, 0, 0, 0, 4, 0, 0, 0, 8, 1, 0, 0, 0};
  EXPECT_EQ(handlers_in(wide, 0x5000, 0x1000), (std::vector<uint64_t>{0x1108}));
}

/// Any number of functions may name one table.
TEST(UnwindTable, CallsOfHandlersAreCounted) {
  const uint8_t bytes[] = {0xff, 0xff, 0x01, 12, 0x10, 5, 0x90, 0x01, 1,
                           0x20, 5,    0,    0,  0x30, 5, 0x40, 0,    99};
  Work work(10);
  size_t found = 0;
  for (uint64_t i = 0; i < 100; ++i)
    found += read_handlers(bytes, 0x5000, 0x1000 + i, work).size();
  EXPECT_TRUE(work.over());
  EXPECT_EQ(work.done(), 10u);
  EXPECT_EQ(found, 2u * 3) << "two of three calls have one; what is behind the end is missing";
}

TEST(UnwindTable, ThisProgramHasHandlers) {
  const Table table = table_of("/proc/self/exe");
  const auto* handlers = table.elf->find(".gcc_except_table");
  ASSERT_NE(handlers, nullptr);
  size_t count = 0;
  for (const auto& range : ranges_of(table.section->bytes, table.section->address)) {
    if (range.handlers == 0) continue;
    ASSERT_GE(range.handlers, handlers->address);
    ASSERT_LT(range.handlers, handlers->address + handlers->size);
    const Bytes bytes = handlers->bytes.subspan(range.handlers - handlers->address);
    for (const uint64_t handler : handlers_in(bytes, range.handlers, range.start)) {
      // In the function, or in its part for what seldom happens.
      EXPECT_LT(std::max(handler, range.start) - std::min(handler, range.start), 1u << 24);
      ++count;
    }
  }
  EXPECT_GT(count, 100u);
}

/// Entries that others refer to, as many as there is room for, and each of them once: none is kept.
TEST(UnwindTable, EntriesThatOthersReferToAreNotKept) {
  std::vector<uint8_t> bytes;
  const auto put = [&](uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(word >> shift));
  };
  constexpr uint32_t kPairs = 200'000;
  for (uint32_t i = 0; i < kPairs; ++i) {
    put(12);  // version 1, no augmentation, alignments, the column of the return address
    put(0);
    for (const uint8_t byte : {1, 0, 1, 0x78, 16, 0, 0, 0}) bytes.push_back(byte);
    put(20);
    put(20);  // back to the one in front
    for (const uint32_t word : {0x1000 + i, uint32_t{0}, uint32_t{16}, uint32_t{0}}) put(word);
  }
  std::vector<UnwindRange> ranges = ranges_of(bytes, 0x10000);
  ASSERT_EQ(ranges.size(), kPairs);
  EXPECT_EQ(ranges.back(), (UnwindRange{0x1000 + kPairs - 1, 0x1010 + kPairs - 1, 0}));
  size_t taken = 0;
  each_unwind_range(bytes, 0x10000, [&](const UnwindRange&) { return ++taken < 3; });
  EXPECT_EQ(taken, 3u) << "until it has enough";
  // One whose letters have no end is nobody's.
  std::vector<uint8_t> long_letters = {0, 0, 0, 0, 1};
  long_letters.resize(5 + 1000, 'S');
  long_letters[5] = 'z';
  for (const uint8_t byte : {0, 1, 0x78, 16, 0}) long_letters.push_back(byte);
  bytes.clear();
  put(static_cast<uint32_t>(long_letters.size()));
  bytes.insert(bytes.end(), long_letters.begin(), long_letters.end());
  const auto back = static_cast<uint32_t>(bytes.size()) + 4;
  put(20);
  put(back);
  for (const uint32_t word : {0x1000u, 0u, 16u, 0u}) put(word);
  EXPECT_TRUE(ranges_of(bytes, 0x10000).empty());
}

TEST(UnwindTable, DamageIsLeftOut) {
  const Table table = table_of("/proc/self/exe");
  std::mt19937 random(7);
  std::vector<uint8_t> bytes(table.section->bytes.begin(), table.section->bytes.end());
  bytes.resize(std::min<size_t>(bytes.size(), 4000));
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged.resize(random() % bytes.size());
    for (int k = 0; k < 5 && !damaged.empty(); ++k)
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
    for (const auto& range : ranges_of(damaged, 0x1000)) EXPECT_LT(range.start, range.end);
    handlers_in(damaged, 0x1000, 0x2000);
    unwind_table_of(damaged, 0x1000);
  }
}

}  // namespace
}  // namespace tracewell::symbols
