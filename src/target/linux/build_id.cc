// Layouts: elf.h of the C library. Nothing here trusts what it reads.
#include "target/linux/build_id.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <elf.h>

#include "base/hex.h"

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
constexpr NoteKind kGoBuildId{{'G', 'o', 0, 0}, 4};  // cmd/internal/buildid of the Go tools

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
std::vector<uint8_t> find(const AddressSpace& space, uint64_t start, uint64_t bias,
                          const NoteKind& kind) {
  const auto file = space.read_value<FileHeader>(start);
  if (!file) return {};
  // All headers at a time: an image may state many, and there may be many images.
  std::vector<ProgramHeader> headers(std::min<size_t>(file->e_phnum, kHeadersMax));
  auto* const bytes = reinterpret_cast<uint8_t*>(headers.data());
  const size_t got =
      space.read(start + file->e_phoff, {bytes, headers.size() * sizeof(ProgramHeader)});
  headers.resize(got / sizeof(ProgramHeader));
  uint64_t left = kNotesMax;
  for (const ProgramHeader& header : headers) {
    if (header.p_type != PT_NOTE || left == 0) continue;
    std::vector<uint8_t> notes(std::min<uint64_t>(header.p_memsz, left));
    notes.resize(space.read(bias + header.p_vaddr, notes));
    left -= notes.size();
    if (auto note = note_in(notes, header.p_align == 8 ? 8 : 4, kind); !note.empty()) return note;
  }
  return {};
}

std::vector<uint8_t> find(const AddressSpace& space, uint64_t start, uint64_t bias,
                          const NoteKind& kind) {
  const auto magic = space.read_value<std::array<char, SELFMAG>>(start);
  if (!magic || std::memcmp(magic->data(), ELFMAG, SELFMAG) != 0) return {};
  return space.is_32_bit ? find<Elf32_Ehdr, Elf32_Phdr>(space, start, bias, kind)
                         : find<Elf64_Ehdr, Elf64_Phdr>(space, start, bias, kind);
}

}  // namespace

std::string build_id_in_memory(const AddressSpace& space, uint64_t start, uint64_t bias) {
  const std::vector<uint8_t> id = find(space, start, bias, kBuildId);
  return id.size() <= kBuildIdMax ? to_hex(id) : "";
}

// The note may have been left out (`-ldflags=-buildid=`). Not so the version, which is near where
// the data begins, behind a text at a multiple of 16 (debug/buildinfo of Go's library).
bool made_by_go(const AddressSpace& space, uint64_t start, uint64_t bias) {
  if (!find(space, start, bias, kGoBuildId).empty()) return true;
  constexpr std::string_view kVersionHead = "\xff Go buildinf:";
  constexpr size_t kSearched = 64 << 10, kAlign = 16;
  const auto file = space.read_value<Elf64_Ehdr>(start);
  for (size_t i = 0; file && i < std::min<size_t>(file->e_phnum, kHeadersMax); ++i) {
    const uint64_t at_header = start + file->e_phoff + i * sizeof(Elf64_Phdr);
    const auto header = space.read_value<Elf64_Phdr>(at_header);
    if (!header || header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0) continue;
    const uint64_t begin = aligned(bias + header->p_vaddr, kAlign);
    std::vector<uint8_t> data(std::min<uint64_t>(header->p_memsz, kSearched));
    data.resize(space.read(begin, data));
    for (size_t at = 0; at + kVersionHead.size() <= data.size(); at += kAlign)
      if (std::memcmp(&data[at], kVersionHead.data(), kVersionHead.size()) == 0) return true;
  }
  return false;
}

// A function that takes more than a little of its stack begins by a check (as `ocamlopt -S` shows):
//   lea -N(%rsp),%r10; cmp BOUND(%r14),%r10; jb ...
// where %r14 is the domain's state. No other compiler is known to make that. Names may have been
// taken away (strip), and a plugin has no runtime of its own.
bool made_by_ocaml(Bytes code, const std::function<bool()>& stop) {
  constexpr std::array<uint8_t, 3> kCompare{0x4d, 0x3b, 0x56};  // cmp disp8(%r14),%r10
  constexpr size_t kCompareBytes = 4, kLeaMin = 5, kLeaMax = 8, kPiece = 1 << 20;
  const auto is_check = [&](size_t at) {
    const auto has = [&](size_t from, std::initializer_list<uint8_t> bytes) {
      return from + bytes.size() <= code.size() &&
             std::ranges::equal(code.subspan(from, bytes.size()), bytes);
    };
    const size_t next = at + kCompareBytes;
    return ((at >= kLeaMin && has(at - kLeaMin, {0x4c, 0x8d, 0x54, 0x24})) ||
            (at >= kLeaMax && has(at - kLeaMax, {0x4c, 0x8d, 0x94, 0x24}))) &&
           (has(next, {0x72}) || has(next, {0x0f, 0x82}));
  };
  for (size_t piece = 0; piece < code.size() && !(stop && stop()); piece += kPiece) {
    const Bytes here = code.subspan(piece, std::min(kPiece + kCompare.size() - 1,
                                                    code.size() - piece));
    for (size_t from = 0;;) {
      const void* const found = ::memmem(here.data() + from, here.size() - from, kCompare.data(),
                                         kCompare.size());
      if (found == nullptr) break;
      const auto at = static_cast<size_t>(static_cast<const uint8_t*>(found) - here.data());
      if (is_check(piece + at)) return true;
      from = at + 1;
    }
  }
  return false;
}

}  // namespace tracewell::target::live
