// A note: three numbers of 32 bits (bytes of name, bytes of data, type), the name, the data; name
// and data end at a multiple of the alignment, counted from where the notes begin. It is 4, also in
// files of 64 bits, except where the header's own is 8 (.note.gnu.property).
//
// Not by dwelf_elf_gnu_build_id(): libelf copies the notes of each header that are not aligned in
// memory and keeps the copies, and looks at them as often as headers name them. 65536 headers may
// name all of the same megabyte. And others may write to the file meanwhile (elf_headers.h).
#include "symbols/elf/notes.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "base/text/hex.h"
#include "symbols/image.h"

namespace tracewell::symbols {
namespace {

constexpr std::string_view kGnu("GNU\0", 4);

uint64_t aligned(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

class BuildIdSearch {
 public:
  BuildIdSearch(const ElfHeaders& headers, Bytes bytes) : headers_(headers), bytes_(bytes) {}

  std::string find() { return to_hex(headers_.sections() > 1 ? in_sections() : in_segments()); }

 private:
  Bytes in_sections() {
    for (size_t i = 1; i < std::min(headers_.sections(), Image::kHeadersMax); ++i) {
      const ElfSectionHeader one = headers_.section(i);
      if (one.type != SHT_NOTE || (one.flags & SHF_COMPRESSED) != 0) continue;
      const Bytes id = in_range(one.offset, one.bytes, one.alignment);
      if (!id.empty() || over()) return id;
    }
    return {};
  }

  Bytes in_segments() {
    for (size_t i = 0; i < std::min(headers_.segments(), Image::kHeadersMax); ++i) {
      const ElfSegment one = headers_.segment(i);
      if (one.type != PT_NOTE) continue;
      const Bytes id = in_range(one.offset, one.file_bytes, one.alignment);
      if (!id.empty() || over()) return id;
    }
    return {};
  }

  /// Of notes that are not wholly in the file, none is looked at.
  Bytes in_range(uint64_t offset, uint64_t size, uint64_t alignment) {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
    NoteReader reader(bytes_.subspan(offset, size), headers_.endian(), alignment == 8 ? 8 : 4);
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

  const ElfHeaders& headers_;
  Bytes bytes_;
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

std::string gnu_build_id(const ElfHeaders& headers, Bytes bytes) {
  return BuildIdSearch(headers, bytes).find();
}

}  // namespace tracewell::symbols
