// Where a number does not fit the ELF header, section 0 has it: that of sections in its size, of
// program headers in sh_info (PN_XNUM), and which section has the names in sh_link (SHN_XINDEX).
#include "symbols/elf/elf_headers.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace tracewell::symbols {
namespace {

/// Reads a header whose size was checked.
class Numbers {
 public:
  Numbers(Bytes header, size_t word, Endian endian)
      : in_(header, endian), word_(word) {}
  uint64_t next(size_t size) { return in_.uint(size).value_or(0); }
  uint16_t half() { return static_cast<uint16_t>(next(2)); }
  uint32_t number() { return static_cast<uint32_t>(next(4)); }
  uint64_t word() { return next(word_); }

 private:
  ByteReader in_;
  size_t word_;
};

/// What is there of a table.
Bytes table_at(Bytes bytes, uint64_t offset, uint64_t count, size_t each) {
  if (offset == 0 || offset >= bytes.size()) return {};
  const Bytes rest = bytes.subspan(offset);
  return rest.first(std::min<uint64_t>(count, rest.size() / each) * each);
}

}  // namespace

Result<ElfHeaders> ElfHeaders::read(Bytes bytes) {
  uint8_t ident[EI_NIDENT] = {};
  if (bytes.size() >= sizeof ident) std::memcpy(ident, bytes.data(), sizeof ident);
  ElfHeaders out;
  out.word_ = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
  out.endian_ = ident[EI_DATA] == ELFDATA2MSB ? Endian::Big : Endian::Little;
  const size_t size = out.word_ == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_VERSION] != EV_CURRENT ||
      (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
      (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB) || bytes.size() < size)
    return Error{Errc::Corrupt, "not a readable ELF file", {}};
  TW_RETURN_IF_ERROR(
      out.find_tables(bytes, ByteReader(bytes.subspan(EI_NIDENT, size - EI_NIDENT), out.endian_)));
  return out;
}

Status ElfHeaders::find_tables(Bytes bytes, ByteReader in) {
  Numbers header(*in.take(in.left()), word_, endian_);
  type_ = header.half();
  machine_ = header.half();
  header.number();  // the version
  entry_ = header.word();
  segments_offset_ = header.word();
  const uint64_t sections_offset = header.word();
  header.number();  // flags
  header.half();    // the size of this header
  segment_header_bytes_ = header.half();
  uint64_t segment_count = header.half();
  header.half();  // the size of a section header
  uint64_t section_count = header.half();
  names_section_ = header.half();

  const Bytes first = table_at(bytes, sections_offset, 1, section_bytes());
  if (!first.empty()) {
    const ElfSectionHeader more = section_at(first);
    if (section_count == 0) section_count = more.bytes;
    if (segment_count == PN_XNUM) segment_count = more.info;
    if (names_section_ == SHN_XINDEX) names_section_ = more.link;
  }
  sections_ = table_at(bytes, sections_offset, section_count, section_bytes());
  // A core file that was cut lacks these, which stand at its end; so do images out of memory.
  if (sections() != section_count) {
    sections_ = {};
    names_section_ = 0;
  }
  segments_ = table_at(bytes, segments_offset_, segment_count, segment_bytes());
  return {};
}

ElfSegment ElfHeaders::segment(size_t i) const {
  Numbers header(segments_.subspan(i * segment_bytes(), segment_bytes()), word_, endian_);
  ElfSegment out;
  out.type = header.number();
  if (word_ == 8) out.flags = header.number();
  out.offset = header.word();
  out.address = header.word();
  header.word();  // the physical one
  out.file_bytes = header.word();
  out.memory_bytes = header.word();
  if (word_ == 4) out.flags = header.number();
  out.alignment = header.word();
  return out;
}

ElfSectionHeader ElfHeaders::section(size_t i) const {
  return section_at(sections_.subspan(i * section_bytes(), section_bytes()));
}

ElfSectionHeader ElfHeaders::section_at(Bytes bytes) const {
  Numbers header(bytes, word_, endian_);
  ElfSectionHeader out;
  out.name = header.number();
  out.type = header.number();
  out.flags = header.word();
  out.address = header.word();
  out.offset = header.word();
  out.bytes = header.word();
  out.link = header.number();
  out.info = header.number();
  out.alignment = header.word();
  out.entry_bytes = header.word();
  return out;
}

}  // namespace tracewell::symbols
