// The note NT_FILE is documented in Linux's source alone (fs/binfmt_elf.c, fill_files_note): a
// count, a page size, then begin, end and page offset of each mapping, then their paths, each with
// a zero. All numbers are as large as the program's addresses.
#include "symbols/core_file.h"

#include <gelf.h>

#include <algorithm>

#include "base/text.h"
#include "symbols/elf_file.h"

namespace tracewell::symbols {
namespace {

constexpr size_t kPathMax = 4096;

Bytes piece(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
}

void read_files_note(Bytes note, const ElfFile& elf, std::vector<CoreMapping>& out) {
  const uint32_t size = elf.address_bytes();
  const auto number = [&](uint64_t index) {
    return load_uint(note.data() + index * size, size, elf.endian());
  };
  if (note.size() < 2 * size) return;
  const uint64_t count = number(0);
  if (count > (note.size() / size - 2) / 3) return;
  uint64_t at = (2 + count * 3) * size;
  for (uint64_t i = 0; i < count; ++i) {
    const auto path = text_at(note, at, kPathMax);
    if (!path) return;
    out.push_back({number(2 + i * 3), number(3 + i * 3), *path});
    at += path->size() + 1;
  }
}

/// `segment` is one of notes, as it stands.
void read_notes(Bytes segment, const ElfFile& elf, std::vector<CoreMapping>& out) {
  constexpr size_t kHead = 12;
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  while (segment.size() >= kHead) {
    const auto number = [&](size_t at) { return load_uint(segment.data() + at, 4, elf.endian()); };
    const uint64_t name = padded(number(0)), data = number(4), type = number(8);
    if (name > segment.size() - kHead) return;
    const Bytes rest = segment.subspan(kHead + name);
    if (type == NT_FILE) read_files_note(piece(rest, 0, data), elf, out);
    segment = rest.subspan(std::min<uint64_t>(padded(data), rest.size()));
  }
}

}  // namespace

Result<CoreFile> read_core_file(Bytes bytes) {
  const ElfFile elf(bytes);
  GElf_Ehdr header;
  if (elf.elf() == nullptr || gelf_getehdr(elf.elf(), &header) == nullptr ||
      header.e_type != ET_CORE)
    return {Errc::Corrupt, "this is no core file"};
  size_t count = 0;
  if (elf_getphdrnum(elf.elf(), &count) != 0) return {Errc::Corrupt, "it has no segments"};
  CoreFile out;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.elf(), static_cast<int>(i), &segment) == nullptr) break;
    const Bytes there = piece(bytes, segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_LOAD && !there.empty()) out.memory.push_back({segment.p_vaddr, there});
    if (segment.p_type == PT_NOTE) read_notes(there, elf, out.mappings);
  }
  return out;
}

}  // namespace tracewell::symbols
