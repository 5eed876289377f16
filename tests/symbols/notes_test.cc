// Build-ids are those that elfutils sees; and what headers share costs neither memory nor time.
#include "symbols/elf/notes.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/text/hex.h"
#include "little_memory.h"
#include "symbols/elf_builder.h"
#include "symbols/elf_head.h"
#include "symbols/image.h"

namespace tracewell::symbols {
namespace {

using test::append;

struct NoteHeader {
  uint64_t offset = 0;  // behind the headers
  uint64_t size = 0;
  uint64_t alignment = 4;
};

/// A library with nothing but headers of notes, then `body`.
std::vector<uint8_t> elf_of_notes(const std::vector<NoteHeader>& headers,
                                  const std::vector<uint8_t>& body) {
  const Elf64_Ehdr head = test::elf_head(ET_DYN, headers.size() + 1);
  std::vector<uint8_t> out;
  append(out, head);
  const uint64_t begin = sizeof head + (headers.size() + 1) * sizeof(Elf64_Phdr);
  Elf64_Phdr load = {};
  load.p_type = PT_LOAD;
  load.p_filesz = load.p_memsz = begin;
  append(out, load);
  for (const NoteHeader& one : headers) {
    Elf64_Phdr header = {};
    header.p_type = PT_NOTE;
    header.p_offset = begin + one.offset;
    header.p_filesz = header.p_memsz = one.size;
    header.p_align = one.alignment;
    append(out, header);
  }
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

void put_note(std::vector<uint8_t>& out, uint32_t type, std::string_view name,
              const std::vector<uint8_t>& data, size_t alignment = 4) {
  const size_t begin = out.size();
  const auto fill = [&] {
    out.resize(begin + (out.size() - begin + alignment - 1) / alignment * alignment);
  };
  for (const size_t number : {name.size(), data.size(), size_t{type}})
    append(out, static_cast<uint32_t>(number));
  out.insert(out.end(), name.begin(), name.end());
  fill();
  out.insert(out.end(), data.begin(), data.end());
  fill();
}

constexpr std::string_view kGnuName("GNU\0", 4);

std::string id_of(std::vector<uint8_t> bytes) {
  auto owner = shared_bytes(std::move(bytes));
  const auto image = Image::parse(*owner, owner, "test");
  EXPECT_TRUE(image) << image.error().text();
  return image ? (*image)->facts().build_id : "";
}

/// What elfutils says.
std::string peer_of(const std::vector<uint8_t>& bytes) {
  elf_version(EV_CURRENT);
  std::vector<uint8_t> copy = bytes;
  ::Elf* const elf = elf_memory(reinterpret_cast<char*>(copy.data()), copy.size());
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
  std::string out;
  if (size > 0) out = to_hex({static_cast<const uint8_t*>(id), static_cast<size_t>(size)});
  elf_end(elf);
  return out;
}

TEST(BuildIds, OfProgramsAreThoseThatElfutilsSees) {
  std::vector<std::filesystem::path> files = {"/proc/self/exe"};
  for (const char* folder : {TRACEWELL_INFERIORS_DIR, "/lib/x86_64-linux-gnu"})
    if (std::filesystem::exists(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.is_regular_file() && files.size() < 200) files.push_back(entry.path());
  size_t told = 0;
  for (const auto& path : files) {
    const auto image = Image::open(path);
    if (!image) continue;
    const Bytes bytes = (*image)->file();
    EXPECT_EQ((*image)->facts().build_id, peer_of({bytes.begin(), bytes.end()})) << path;
    told += !(*image)->facts().build_id.empty();
  }
  EXPECT_GT(told, 5u);
}

TEST(BuildIds, OfAllKindsOfFiles) {
  for (const bool is_64 : {true, false}) {
    for (const Endian endian : {Endian::Little, Endian::Big}) {
      TestElf elf;
      elf.is_64 = is_64;
      elf.endian = endian;
      elf.segments = {{0, 0x400, PF_R, 0}};
      elf.build_id = {1, 2, 3, 4, 5, 6, 7, 8};
      EXPECT_EQ(id_of(elf.build()), "0102030405060708");
      EXPECT_EQ(peer_of(elf.build()), "0102030405060708");
      elf.sections = {{".text"}};  // where there are sections, one of them has to say it
      EXPECT_EQ(id_of(elf.build()), "");
      EXPECT_EQ(peer_of(elf.build()), "");
      std::vector<uint8_t> note;
      ByteWriter out(note, endian);
      for (const uint64_t number : {uint64_t{4}, uint64_t{2}, uint64_t{NT_GNU_BUILD_ID}})
        out.uint(number, 4);
      note.insert(note.end(), {'G', 'N', 'U', 0, 9, 8, 0, 0});
      elf.sections = {{".text"}, {".note.x", SHT_NOTE, SHF_COMPRESSED, 0, note},
                      {".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, note}};
      EXPECT_EQ(id_of(elf.build()), "0908");
      EXPECT_EQ(peer_of(elf.build()), "0908");
    }
  }
}

TEST(BuildIds, BehindOtherNotesAndBothAlignments) {
  for (const uint64_t alignment : {4u, 8u}) {
    std::vector<uint8_t> body;
    put_note(body, NT_GNU_PROPERTY_TYPE_0, kGnuName, std::vector<uint8_t>(12), alignment);
    put_note(body, NT_GNU_BUILD_ID, std::string_view("Go\0\0", 4), {7, 7}, alignment);
    const size_t first = body.size();
    put_note(body, 1, "", {1, 2, 3}, alignment);
    put_note(body, NT_GNU_BUILD_ID, kGnuName, {0xab, 0xcd, 0xef}, alignment);
    const NoteHeader others = {0, first, alignment};
    const NoteHeader wanted = {first, body.size() - first, alignment};
    const auto elf = elf_of_notes({others, wanted}, body);
    EXPECT_EQ(id_of(elf), "abcdef") << alignment;
    EXPECT_EQ(peer_of(elf), "abcdef") << alignment;
    const NoteHeader beyond = {first, body.size() + 100, alignment};
    EXPECT_EQ(id_of(elf_of_notes({beyond, wanted}, body)), "abcdef") << alignment;
  }
}

// libelf copies each range of notes that is not aligned, and keeps the copies until it is done.
TEST(BuildIds, HeadersThatShareNotesTakeNoMemory) {
  constexpr size_t kHeaders = 2000, kBytes = 300000;
  std::vector<uint8_t> body = {0};  // what follows stands at odd places
  put_note(body, NT_GNU_BUILD_ID, kGnuName, {0xaa, 0xbb, 0xcc, 0xdd});
  const size_t behind = body.size();
  put_note(body, 7, "ABC", std::vector<uint8_t>(kBytes));
  std::vector<NoteHeader> headers;
  for (size_t i = 0; i < kHeaders; ++i) headers.push_back({behind, body.size() - behind - 4 * i});
  headers.push_back({1, body.size() - 1});
  const auto elf = elf_of_notes(headers, body);
  EXPECT_IN_MEMORY(100 << 20, EXPECT_EQ(id_of(elf), "aabbccdd"));
}

TEST(BuildIds, NotesAreCounted) {
  constexpr size_t kNotes = 20000;
  std::vector<uint8_t> body(12 * kNotes);  // notes without anything
  const size_t empty_bytes = body.size();
  put_note(body, NT_GNU_BUILD_ID, kGnuName, {1, 2});
  const auto id_behind = [&](size_t headers) {
    std::vector<NoteHeader> all(headers, {0, empty_bytes});
    all.push_back({empty_bytes, body.size() - empty_bytes});
    return id_of(elf_of_notes(all, body));
  };
  EXPECT_EQ(id_behind(50), "0102") << "a million notes are looked at";
  EXPECT_EQ(id_behind(60), "");
}

}  // namespace
}  // namespace tracewell::symbols
