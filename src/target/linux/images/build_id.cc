// Layouts: elf.h of the C library. Nothing here trusts what it reads.
#include "target/linux/images/build_id.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <elf.h>

#include "base/text/hex.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kHeadersMax = 512;
constexpr uint64_t kNotesMax = 64 << 10;  // bytes, of an image
constexpr uint32_t kBuildIdMax = 64;

uint64_t aligned(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// What a note says of itself. Both kinds of files have headers of three 32-bit words.
struct NoteKind {
  std::array<char, 4> name;
  uint32_t type = 0;
};
constexpr NoteKind kBuildId{{'G', 'N', 'U', 0}, NT_GNU_BUILD_ID};
constexpr NoteKind kGoBuildId{{'G', 'o', 0, 0}, 4};

/// The first of the kind in the notes of one segment; empty = none.
std::vector<uint8_t> note_in(Bytes notes, uint64_t alignment, const NoteKind& kind) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header{};
    std::memcpy(&header, notes.data(), sizeof header);
    const uint64_t name_at = sizeof header;
    const uint64_t bytes_at = aligned(name_at + header.n_namesz, alignment);
    if (bytes_at + header.n_descsz > notes.size()) break;
    const Bytes name = notes.subspan(name_at, header.n_namesz);
    if (header.n_type == kind.type && std::ranges::equal(name, kind.name)) {
      const Bytes found = notes.subspan(bytes_at, header.n_descsz);
      return {found.begin(), found.end()};
    }
    notes = notes.subspan(std::min<uint64_t>(aligned(bytes_at + header.n_descsz, alignment),
                                             notes.size()));
  }
  return {};
}

template <class FileHeader, class ProgramHeader>
std::vector<uint8_t> find(const PatchedMemory& memory, uint64_t start, uint64_t bias,
                          const NoteKind& kind) {
  const auto file = memory.read_value<FileHeader>(start);
  if (!file) return {};
  // All headers at a time: an image may state many, and there may be many images.
  std::vector<ProgramHeader> headers(std::min<size_t>(file->e_phnum, kHeadersMax));
  auto* const bytes = reinterpret_cast<uint8_t*>(headers.data());
  const size_t got =
      memory.read(start + file->e_phoff, {bytes, headers.size() * sizeof(ProgramHeader)});
  headers.resize(got / sizeof(ProgramHeader));
  uint64_t left = kNotesMax;
  for (const ProgramHeader& header : headers) {
    if (header.p_type != PT_NOTE || left == 0) continue;
    std::vector<uint8_t> notes(std::min<uint64_t>(header.p_memsz, left));
    notes.resize(memory.read(bias + header.p_vaddr, notes));
    left -= notes.size();
    if (auto note = note_in(notes, header.p_align == 8 ? 8 : 4, kind); !note.empty()) return note;
  }
  return {};
}

std::vector<uint8_t> find(const PatchedMemory& memory, uint64_t start, uint64_t bias,
                          const NoteKind& kind) {
  const auto magic = memory.read_value<std::array<char, SELFMAG>>(start);
  if (!magic || std::memcmp(magic->data(), ELFMAG, SELFMAG) != 0) return {};
  return memory.is_32_bit ? find<Elf32_Ehdr, Elf32_Phdr>(memory, start, bias, kind)
                          : find<Elf64_Ehdr, Elf64_Phdr>(memory, start, bias, kind);
}

}  // namespace

std::string build_id_in_memory(const PatchedMemory& memory, uint64_t start, uint64_t bias) {
  const std::vector<uint8_t> id = find(memory, start, bias, kBuildId);
  return id.size() <= kBuildIdMax ? to_hex(id) : "";
}

std::string go_build_id_in_memory(const PatchedMemory& memory, uint64_t start, uint64_t bias) {
  return to_hex(find(memory, start, bias, kGoBuildId));
}

}  // namespace tracewell::target::live
