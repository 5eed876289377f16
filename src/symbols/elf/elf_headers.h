// The headers of an ELF file (System V ABI, chapters 4 and 5), in either class and byte order. Not
// through libelf: who wrote the file may write to it while it is read, and libelf looks at a header
// again for what it has checked there. Here a number is taken once, and what was checked is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"

namespace tracewell::symbols {

/// A program header.
struct ElfSegment {
  uint32_t type = 0, flags = 0;
  uint64_t offset = 0, address = 0, file_bytes = 0, memory_bytes = 0, alignment = 0;
};

struct ElfSectionHeader {
  uint32_t name = 0, type = 0, link = 0, info = 0;
  uint64_t flags = 0, address = 0, offset = 0, bytes = 0, alignment = 0, entry_bytes = 0;
};

class ElfHeaders {
 public:
  /// Corrupt: this is no ELF file. Where not all section headers are in it, it has none of them.
  /// `bytes` must outlive the result.
  static Result<ElfHeaders> read(Bytes bytes);

  uint32_t address_bytes() const { return word_; }  // 4 or 8: the class
  Endian endian() const { return endian_; }
  uint16_t type() const { return type_; }
  uint16_t machine() const { return machine_; }
  uint64_t entry() const { return entry_; }
  uint64_t segments_offset() const { return segments_offset_; }  // as it is stated
  uint16_t segment_header_bytes() const { return segment_header_bytes_; }  // likewise

  /// Program headers that are in the file: there may be fewer than it says.
  size_t segments() const { return segments_.size() / segment_bytes(); }
  ElfSegment segment(size_t i) const;
  /// With the first, which is none.
  size_t sections() const { return sections_.size() / section_bytes(); }
  ElfSectionHeader section(size_t i) const;
  /// The number of the section that has the others' names; there may be none.
  uint64_t names_section() const { return names_section_; }

 private:
  ElfHeaders() = default;
  size_t segment_bytes() const { return word_ == 8 ? 56 : 32; }
  size_t section_bytes() const { return word_ == 8 ? 64 : 40; }
  ElfSectionHeader section_at(Bytes header) const;
  Status find_tables(Bytes bytes, ByteReader in);

  uint32_t word_ = 8;
  Endian endian_ = Endian::Little;
  uint16_t type_ = 0, machine_ = 0, segment_header_bytes_ = 0;
  uint64_t entry_ = 0, segments_offset_ = 0, names_section_ = 0;
  Bytes segments_, sections_;
};

}  // namespace tracewell::symbols
