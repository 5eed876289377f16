// Who wrote a core file or an image may write to its headers while they are read. Each of the
// states that they have here is sound; what was read of several of them is not.
#include <elf.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sanitized.h"
#include "symbols/changing_memory.h"
#include "symbols/elf/core_file.h"
#include "symbols/elf_builder.h"
#include "symbols/elf_head.h"
#include "symbols/image.h"
#include "symbols/names.h"

namespace tracewell::symbols {
namespace {

using test::ChangingMemory;

constexpr size_t kAccesses = 40;

/// The headers are `other` from behind the access `from` on, and as they were from behind `to` on,
/// for all of these up to kAccesses; each time, `reader` reads.
void read_changing(const std::vector<uint8_t>& bytes, const Elf64_Ehdr& other,
                   const std::function<void(Bytes)>& reader) {
  ChangingMemory memory(bytes);
  Elf64_Ehdr first;
  std::memcpy(&first, bytes.data(), sizeof first);
  const auto read = [&](size_t from, size_t to) {
    std::memcpy(const_cast<uint8_t*>(memory.bytes().data()), &first, sizeof first);
    return memory.read([&] { reader(memory.bytes()); },
                       [&](uint8_t* page, size_t number) {
                         if (number == from) std::memcpy(page, &other, sizeof other);
                         if (number == to) std::memcpy(page, &first, sizeof first);
                         return number < to;
                       });
  };
  const size_t accesses = read(kAccesses, kAccesses);
  EXPECT_GT(accesses, 10u);  // what is read is what changes
  for (size_t from = 1; from <= accesses; ++from)
    for (size_t to = from + 1; to <= accesses + 1; to += test::kEach) read(from, to);
}

/// A table of so many program headers becomes the file's last bytes, which are one.
Elf64_Ehdr with_last_segment(const std::vector<uint8_t>& bytes) {
  Elf64_Ehdr out;
  std::memcpy(&out, bytes.data(), sizeof out);
  out.e_phoff = bytes.size() - sizeof(Elf64_Phdr);
  out.e_phnum = 1;
  return out;
}

TEST(ChangedHeaders, OfCoreFilesLeadNowhereElse) {
  std::vector<uint8_t> bytes(3 * ChangingMemory::kPage);
  Elf64_Ehdr head = test::elf_head(ET_CORE, 70);
  head.e_phoff = 2 * ChangingMemory::kPage;
  std::memcpy(bytes.data(), &head, sizeof head);
  Elf64_Phdr one = {};
  one.p_type = PT_LOAD;
  one.p_offset = ChangingMemory::kPage;
  one.p_filesz = one.p_memsz = 100;
  std::memcpy(bytes.data() + head.e_phoff, &one, sizeof one);
  read_changing(bytes, with_last_segment(bytes), [](Bytes now) {
    const auto core = read_core_file(now, "wanted");
    if (!core) return;
    for (const CoreMemory& memory : core->memory) {
      EXPECT_GE(memory.bytes.data(), now.data());
      EXPECT_LE(memory.bytes.data() + memory.bytes.size(), now.data() + now.size());
    }
  });
}

TEST(ChangedHeaders, OfImagesLeadNowhereElse) {
  TestElf elf;
  elf.segments = {{0, ChangingMemory::kPage, PF_R, 0x11}, {0x1000, 0x80, PF_R | PF_X, 0x22}};
  elf.build_id = {1, 2, 3, 4};
  elf.soname = true;
  elf.sections = {{".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
                   std::vector<uint8_t>(64, 0x90)},
                  {".symtab", SHT_SYMTAB, 0, 0, std::vector<uint8_t>(4 * sizeof(Elf64_Sym)), 3,
                   sizeof(Elf64_Sym)},
                  {".strtab", SHT_STRTAB, 0, 0, {0, 'a', 0}}};
  std::vector<uint8_t> bytes = elf.build();
  bytes.resize((bytes.size() / ChangingMemory::kPage + 1) * ChangingMemory::kPage);
  Elf64_Ehdr other = with_last_segment(bytes);
  other.e_shoff = bytes.size() - sizeof(Elf64_Shdr);
  other.e_shnum = 1;
  other.e_shstrndx = 0;
  size_t read_whole = 0;
  read_changing(bytes, other, [&](Bytes now) {
    const auto image = Image::parse(now, nullptr, "test");
    if (!image) return;
    ++read_whole;
    Names::read(*image, "")->find("a");
  });
  EXPECT_GT(read_whole, 0u);
}

}  // namespace
}  // namespace tracewell::symbols
