// Core files that are written by hand: what their headers share is looked at once, and what is kept
// is bounded by the file and not by what it says.
#include "symbols/elf/core_file.h"

#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "symbols/elf_builder.h"
#include "symbols/elf_head.h"

namespace tracewell::symbols {
namespace {

using test::append;

constexpr std::string_view kWanted = "/.rings/";

struct Header {
  uint32_t type = PT_LOAD;
  uint64_t offset = 0;  // behind the headers
  uint64_t size = 0;
  uint64_t address = 0;
};

/// The headers, then `body`.
std::vector<uint8_t> core_of(const std::vector<Header>& headers, const std::vector<uint8_t>& body) {
  const Elf64_Ehdr head = test::elf_head(ET_CORE, headers.size());
  std::vector<uint8_t> out;
  append(out, head);
  const uint64_t begin = sizeof head + headers.size() * sizeof(Elf64_Phdr);
  for (const Header& one : headers) {
    Elf64_Phdr header = {};
    header.p_type = one.type;
    header.p_offset = begin + one.offset;
    header.p_filesz = header.p_memsz = one.size;
    header.p_vaddr = one.address;
    append(out, header);
  }
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

std::vector<uint8_t> note_of(const std::vector<std::string>& paths) {
  std::vector<uint8_t> text;
  append(text, uint64_t{paths.size()});
  append(text, uint64_t{4096});
  for (size_t i = 0; i < paths.size(); ++i)
    for (const uint64_t number : {4096 * (i + 1), 4096 * (i + 2), i / 2}) append(text, number);
  for (const std::string& path : paths)
    text.insert(text.end(), path.c_str(), path.c_str() + path.size() + 1);
  std::vector<uint8_t> out;
  for (const size_t number : {size_t{5}, text.size(), size_t{NT_FILE}})
    append(out, static_cast<uint32_t>(number));
  constexpr char kName[8] = "CORE";
  out.insert(out.end(), kName, kName + sizeof kName);
  out.insert(out.end(), text.begin(), text.end());
  out.resize((out.size() + 3) / 4 * 4);
  return out;
}

uint64_t bytes_looked_at(const CoreFile& core) {
  uint64_t out = 0;
  for (const CoreMemory& one : core.memory) out += one.bytes.size();
  return out;
}

TEST(CoreFiles, TellMemoryAndTheWantedMappings) {
  std::vector<uint8_t> body =
      note_of({"/lib/a.so", "/log/.rings/1-0", "/log/.rings/1-1 (deleted)"});
  const uint64_t note = body.size();
  body.resize(note + 8192, 7);
  const auto bytes = core_of({{PT_NOTE, 0, note}, {PT_LOAD, note, 4096, 0x1000},
                              {PT_LOAD, note + 4096, 9999, 0x8000}},
                             body);
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  ASSERT_EQ(core->mappings.size(), 2u);
  EXPECT_EQ(core->mappings[0].path, "/log/.rings/1-0");
  EXPECT_EQ(core->mappings[0].begin, 8192u);
  EXPECT_EQ(core->mappings[0].offset, 0u);
  EXPECT_EQ(core->mappings[1].path, "/log/.rings/1-1 (deleted)");
  EXPECT_EQ(core->mappings[1].offset, 4096u);  // the note counts in pages
  ASSERT_EQ(core->memory.size(), 2u);
  EXPECT_EQ(core->memory[0].address, 0x1000u);
  EXPECT_EQ(core->memory[0].bytes.size(), 4096u);
  EXPECT_EQ(core->memory[1].bytes.size(), 4096u);  // the file is cut
  EXPECT_TRUE(core->left_out.empty());
  EXPECT_EQ(read_core_file(Bytes(bytes).first(40), kWanted).error().code, Errc::Corrupt);
}

// A program with more mappings than the ELF header has room for: section 0 says how many there are.
TEST(CoreFiles, MayHaveMoreSegmentsThanTheirHeaderCanSay) {
  constexpr size_t kHeaders = 70'000;
  std::vector<Header> headers(kHeaders);
  for (size_t i = 0; i < kHeaders; ++i) headers[i] = {PT_LOAD, i, 1, 0x1000 * i};
  auto bytes = core_of(headers, std::vector<uint8_t>(kHeaders));
  Elf64_Shdr more = {};
  more.sh_info = kHeaders;
  Elf64_Ehdr head;
  std::memcpy(&head, bytes.data(), sizeof head);
  head.e_phnum = PN_XNUM;
  head.e_shoff = bytes.size();
  head.e_shnum = 1;
  std::memcpy(bytes.data(), &head, sizeof head);
  append(bytes, more);
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  ASSERT_EQ(core->memory.size(), kHeaders);
  EXPECT_EQ(core->memory.back().address, 0x1000u * (kHeaders - 1));
  more.sh_info = UINT32_MAX;  // those that are there
  std::memcpy(bytes.data() + head.e_shoff, &more, sizeof more);
  EXPECT_TRUE(read_core_file(bytes, kWanted).ok());
}

TEST(CoreFiles, OfEitherClassAndByteOrder) {
  for (const bool is_64 : {true, false})
    for (const Endian endian : {Endian::Little, Endian::Big}) {
      TestElf elf;
      elf.is_64 = is_64;
      elf.endian = endian;
      elf.type = ET_CORE;
      elf.segments = {{0, 0x400, PF_R, 0}, {0x12345000, 0x80, PF_R, 0x22}};
      const auto bytes = elf.build();
      const auto core = read_core_file(bytes, kWanted);
      ASSERT_TRUE(core.ok());
      ASSERT_EQ(core->memory.size(), 2u);
      EXPECT_EQ(core->memory[1].address, 0x12345000u);
      EXPECT_EQ(core->memory[1].bytes.size(), 0x80u);
      EXPECT_EQ(core->memory[1].bytes[0], 0x22);
    }
}

TEST(CoreFiles, SegmentsThatShareBytesAreLookedAtOnce) {
  constexpr size_t kHeaders = 60'000;
  const auto bytes = core_of(std::vector<Header>(kHeaders, {PT_LOAD, 0, 1 << 20, 0x1000}),
                             std::vector<uint8_t>(1 << 20));
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->memory.size(), 1u);
  EXPECT_EQ(bytes_looked_at(*core), 1u << 20);
  ASSERT_EQ(core->left_out.size(), 1u);
  EXPECT_NE(core->left_out[0].find("59999 of its segments of memory begin inside others"),
            std::string::npos);
  EXPECT_NE(core->left_out[0].find(fmt::format("0x{:x}", 64 + kHeaders * 56)), std::string::npos);
}

TEST(CoreFiles, WhatIsLeftOfASegmentBeginsAPage) {
  const std::vector<uint8_t> body(0x6000);
  const auto bytes = core_of({{PT_LOAD, 0x1800, 0x4800, 0x20000},  // the file's order is another
                              {PT_LOAD, 0, 0x2000, 0x10000},
                              {PT_LOAD, 0x2000, 0x1000, 0x30000}},
                             body);
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  ASSERT_EQ(core->memory.size(), 2u);
  EXPECT_EQ(core->memory[0].address, 0x10000u);
  EXPECT_EQ(core->memory[1].address, 0x21000u);
  EXPECT_EQ(core->memory[1].bytes.size(), 0x3800u);
  EXPECT_LE(bytes_looked_at(*core), body.size());
  EXPECT_EQ(core->left_out.size(), 1u);
}

TEST(CoreFiles, NotesThatAreSharedAreReadOnce) {
  const std::vector<uint8_t> note = note_of(std::vector<std::string>(1000, "/log/.rings/1-0"));
  const auto bytes = core_of(std::vector<Header>(60'000, {PT_NOTE, 0, note.size()}), note);
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->mappings.size(), 1000u);
  ASSERT_EQ(core->left_out.size(), 1u);
  EXPECT_NE(core->left_out[0].find("59999 of its segments of notes begin inside others"),
            std::string::npos);
}

TEST(CoreFiles, MappingsThatAreKeptAreBounded) {
  std::vector<std::string> paths(kCoreMappingsMax + 5, "/l/.rings/1-0");
  paths.resize(paths.size() + 100'000, "/lib/any.so");
  const std::vector<uint8_t> note = note_of(paths);
  const auto bytes = core_of({{PT_NOTE, 0, note.size()}}, note);
  const auto core = read_core_file(bytes, kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->mappings.size(), kCoreMappingsMax);
  ASSERT_EQ(core->left_out.size(), 1u);
  EXPECT_NE(core->left_out[0].find("has 65541 mappings"), std::string::npos);
}

/// Memory that takes none until it is written to, as a file of holes.
class Holes {
 public:
  explicit Holes(size_t bytes) : bytes_(bytes) {
    at_ = static_cast<uint8_t*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  ~Holes() { munmap(at_, bytes_); }
  Holes(const Holes&) = delete;
  Holes& operator=(const Holes&) = delete;
  void put(size_t at, const std::vector<uint8_t>& bytes) const {
    std::memcpy(at_ + at, bytes.data(), bytes.size());
  }
  Bytes bytes() const { return {at_, bytes_}; }

 private:
  size_t bytes_;
  uint8_t* at_;
};

TEST(CoreFiles, HeadersThatAreLookedAtAreBounded) {
  constexpr size_t kMore = 1000, kHeaders = kCoreSegmentsMax + kMore;
  const std::vector<Header> last(kMore + 1, {PT_LOAD, 0, 1, 0x1000});
  const size_t sections = sizeof(Elf64_Ehdr) + kHeaders * sizeof(Elf64_Phdr);
  const Holes file(sections + sizeof(Elf64_Shdr));
  auto bytes = core_of(last, {});
  Elf64_Ehdr head;
  std::memcpy(&head, bytes.data(), sizeof head);
  head.e_phnum = PN_XNUM;
  head.e_shoff = sections;
  head.e_shnum = 1;
  // The last header that is looked at, and those behind it.
  bytes.erase(bytes.begin(), bytes.begin() + sizeof head);
  file.put(sections - bytes.size(), bytes);
  bytes.clear();
  append(bytes, head);
  file.put(0, bytes);
  Elf64_Shdr more = {};
  more.sh_info = kHeaders;
  bytes.clear();
  append(bytes, more);
  file.put(sections, bytes);
  const auto core = read_core_file(file.bytes(), kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->memory.size(), 1u);
  ASSERT_EQ(core->left_out.size(), 1u);
  EXPECT_NE(core->left_out[0].find(fmt::format("says that it has {} program headers, from offset "
                                               "0x40 on; those behind the first {} are not",
                                               kHeaders, kCoreSegmentsMax)),
            std::string::npos);
}

TEST(CoreFiles, NotesThatAreLookedAtAreBounded) {
  const auto note = note_of({"/log/.rings/1-0"});
  constexpr uint64_t kRoom = 4096;
  const Holes file(kRoom + kCoreNoteBytesMax + note.size());
  const uint64_t begin = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  const auto put_headers = [&](uint64_t more) {
    file.put(0, core_of({{PT_NOTE, kRoom - begin, kCoreNoteBytesMax - note.size() + more},
                         {PT_NOTE, kRoom - begin + kCoreNoteBytesMax - note.size() + more,
                          note.size()}},
                        {}));
    file.put(kRoom + kCoreNoteBytesMax - note.size() + more, note);
  };
  put_headers(note.size());
  auto core = read_core_file(file.bytes(), kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_TRUE(core->mappings.empty());
  ASSERT_EQ(core->left_out.size(), 1u);
  EXPECT_NE(core->left_out[0].find(fmt::format(
                "more than {} bytes of notes; what is behind them, from offset 0x{:x} on, is not",
                kCoreNoteBytesMax, kRoom + kCoreNoteBytesMax)),
            std::string::npos);
  put_headers(0);
  core = read_core_file(file.bytes(), kWanted);
  ASSERT_TRUE(core.ok());
  EXPECT_EQ(core->mappings.size(), 1u);
  EXPECT_TRUE(core->left_out.empty());
}

}  // namespace
}  // namespace tracewell::symbols
