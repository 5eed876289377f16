// A note: three numbers of 32 bits (bytes of name, bytes of data, type), the name, the data; name
// and data end at a multiple of the alignment, counted from where the notes begin. It is 4, also in
// files of 64 bits, except where the header's own is 8 (.note.gnu.property).
//
// Not by dwelf_elf_gnu_build_id(): libelf copies the notes of each header that are not aligned in
// memory and keeps the copies, and looks at them as often as headers name them. 65536 headers may
// name all of the same megabyte.
#include "symbols/notes.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <string_view>

#include "base/hex.h"
#include "symbols/image.h"

namespace tracewell::symbols {
namespace {

constexpr std::string_view kGnu("GNU\0", 4);

uint64_t aligned(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

class BuildIdSearch {
 public:
  BuildIdSearch(::Elf* elf, Bytes bytes) : elf_(elf), bytes_(bytes) {}

  std::string find() {
    GElf_Ehdr header;
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header) == nullptr)
      return "";
    endian_ = header.e_ident[EI_DATA] == ELFDATA2MSB ? Endian::Big : Endian::Little;
    size_t sections = 0;
    const bool has_sections = elf_getshdrnum(elf_, &sections) == 0 && sections > 1;
    const Bytes id = has_sections ? in_sections(sections) : in_segments();
    return to_hex(id);
  }

 private:
  Bytes in_sections(size_t count) {
    for (size_t i = 1; i < std::min(count, Image::kHeadersMax); ++i) {
      GElf_Shdr header;
      Elf_Scn* const section = elf_getscn(elf_, i);
      if (section == nullptr || gelf_getshdr(section, &header) == nullptr) continue;
      if (header.sh_type != SHT_NOTE || (header.sh_flags & SHF_COMPRESSED) != 0) continue;
      const Bytes id = in_range(header.sh_offset, header.sh_size, header.sh_addralign);
      if (!id.empty() || over()) return id;
    }
    return {};
  }

  Bytes in_segments() {
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return {};
    for (size_t i = 0; i < std::min(count, Image::kHeadersMax); ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type != PT_NOTE) continue;
      const Bytes id = in_range(header.p_offset, header.p_filesz, header.p_align);
      if (!id.empty() || over()) return id;
    }
    return {};
  }

  /// Of notes that are not wholly in the file, none is looked at.
  Bytes in_range(uint64_t offset, uint64_t size, uint64_t alignment) {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
    NoteReader reader(bytes_.subspan(offset, size), endian_, alignment == 8 ? 8 : 4);
    while (!over()) {
      ++seen_;
      const auto note = reader.next();
      if (!note || !note->whole) return {};
      if (note->type != NT_GNU_BUILD_ID || as_text(note->name) != kGnu) continue;
      return note->data.size() <= kBuildIdBytesMax ? note->data : Bytes();
    }
    return {};
  }

  bool over() const { return seen_ >= kNotesMax; }

  ::Elf* elf_;
  Bytes bytes_;
  Endian endian_ = Endian::Little;
  uint64_t seen_ = 0;  // notes
};

}  // namespace

std::optional<Note> NoteReader::next() {
  constexpr uint64_t kHead = 12;
  if (left_.size() < kHead) return std::nullopt;
  const auto number = [&](size_t at) { return load_uint(left_.data() + at, 4, endian_); };
  const uint64_t name_bytes = number(0), data_bytes = number(4);
  const uint64_t data_at = aligned(kHead + name_bytes, alignment_);
  if (data_at > left_.size()) return std::nullopt;
  Note out;
  out.name = left_.subspan(kHead, name_bytes);
  out.type = static_cast<uint32_t>(number(8));
  out.whole = data_bytes <= left_.size() - data_at;
  out.data = left_.subspan(data_at, std::min<uint64_t>(data_bytes, left_.size() - data_at));
  left_ = left_.subspan(std::min<uint64_t>(aligned(data_at + data_bytes, alignment_),
                                           left_.size()));
  return out;
}

std::string gnu_build_id(::Elf* elf, Bytes bytes) { return BuildIdSearch(elf, bytes).find(); }

}  // namespace tracewell::symbols
