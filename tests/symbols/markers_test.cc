#include "symbols/elf/markers.h"

#include <gtest/gtest.h>

#include "symbols/elf_builder.h"

namespace tracewell::symbols {
namespace {

using namespace std::literals;

/// A note, filled up.
void add_note(std::vector<uint8_t>& out, const TestElf& elf, std::string_view owner, uint32_t type,
              const std::vector<uint64_t>& addresses, std::string_view texts) {
  ByteWriter writer(out, elf.endian);
  const size_t word = elf.is_64 ? 8 : 4;
  writer.uint(owner.size(), 4);
  writer.uint(addresses.size() * word + texts.size(), 4);
  writer.uint(type, 4);
  writer.bytes(as_bytes(owner));
  out.resize((out.size() + 3) / 4 * 4);
  for (const uint64_t address : addresses) writer.uint(address, word);
  writer.bytes(as_bytes(texts));
  out.resize((out.size() + 3) / 4 * 4);
}

constexpr std::string_view kProbe = "stapsdt\0"sv, kHook = "tracewell\0"sv;

TestElf with_markers(bool is_64, Endian endian, uint64_t base) {
  TestElf elf;
  elf.is_64 = is_64;
  elf.endian = endian;
  std::vector<uint8_t> probes, hooks;
  add_note(probes, elf, kProbe, 3, {0x1100, 0x2000, 0x4020},
           "shop\0order\0-4@%eax 8@8(%rsp)\0"sv);
  add_note(probes, elf, "GNU\0"sv, 3, {1, 2, 3}, "a\0b\0"sv);
  add_note(probes, elf, kProbe, 2, {1, 2, 3}, "a\0b\0\0"sv);
  add_note(probes, elf, kProbe, 3, {0x1200, 0x2000, 0}, "shop\0closed\0\0"sv);
  add_note(hooks, elf, kHook, 1, {0x1300},
           "TRCHKL1\0" "4@%eax\0" "8@%rdx\0"sv);
  add_note(hooks, elf, kHook, 1, {0x1400}, "TRCHKL0\0" "4@$5\0\0"sv);
  elf.sections = {{".note.stapsdt", SHT_NOTE, 0, 0, probes},
                  {".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, base, {0}},
                  {".note.tracewell.hooks", SHT_NOTE, 0, 0, hooks}};
  return elf;
}

TEST(Markers, OfProbesAndHooks) {
  for (const bool is_64 : {true, false})
    for (const Endian endian : {Endian::Little, Endian::Big})
      for (const uint64_t moved : {uint64_t{0}, uint64_t{0x30}}) {
        const auto bytes = with_markers(is_64, endian, 0x2000 + moved).build();
        const ElfFile file{Bytes(bytes)};
        const auto found = find_markers(file);
        ASSERT_EQ(found.size(), 4u);
        EXPECT_EQ(found[0].id, "shop:order");
        EXPECT_EQ(found[0].address, 0x1100 + moved);
        EXPECT_EQ(found[0].semaphore, 0x4020 + moved);
        EXPECT_EQ(found[0].arguments, "-4@%eax 8@8(%rsp)");
        EXPECT_EQ(found[1].id, "shop:closed");
        EXPECT_EQ(found[1].semaphore, 0u);
        EXPECT_EQ(found[1].arguments, "");
        EXPECT_EQ(found[2].id, "tracewell:TRCHKL1");
        EXPECT_EQ(found[2].kind, Marker::Kind::Hook);
        EXPECT_EQ(found[2].address, 0x1300u) << "hooks know no base";
        EXPECT_EQ(found[2].arguments, "4@%eax 8@%rdx");
        EXPECT_EQ(found[3].arguments, "4@$5");
      }
}

TEST(Markers, CutNotesEndTheirSection) {
  const TestElf whole = with_markers(true, Endian::Little, 0x2000);
  size_t last = 0;
  for (size_t size = 0; size <= whole.sections[0].bytes.size(); ++size) {
    TestElf cut = whole;
    cut.sections[0].bytes.resize(size);
    cut.sections.resize(1);
    const auto bytes = cut.build();
    const size_t found = find_markers(ElfFile{Bytes(bytes)}).size();
    EXPECT_GE(found, last);
    last = found;
  }
  EXPECT_EQ(last, 2u);
}

TEST(Markers, TextsWithoutAnEndAreNone) {
  TestElf elf;
  std::vector<uint8_t> notes;
  add_note(notes, elf, kProbe, 3, {1, 2, 3}, "shop");
  add_note(notes, elf, kProbe, 3, {1, 2, 3}, "shop\0order\0arg"sv);
  add_note(notes, elf, kProbe, 3, {1, 2, 3}, "a\0b\0c\0"sv);
  elf.sections = {{".note.stapsdt", SHT_NOTE, 0, 0, notes}};
  const auto bytes = elf.build();
  const auto found = find_markers(ElfFile{Bytes(bytes)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "a:b");
}

}  // namespace
}  // namespace tracewell::symbols
