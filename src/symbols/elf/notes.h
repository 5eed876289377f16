// Notes of ELF files: what a program header of type PT_NOTE or a section of type SHT_NOTE holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/endian.h"
#include "symbols/elf/elf_headers.h"

namespace tracewell::symbols {

struct Note {
  Bytes name;  // with the NUL that ends it
  uint32_t type = 0;
  Bytes data;
  bool whole = true;  // else `data` is what is left of it, and no note follows
};

/// Walks them in turn.
class NoteReader {
 public:
  /// `alignment`: to so many bytes are name and data filled up, 4 or 8.
  NoteReader(Bytes notes, Endian endian, uint64_t alignment)
      : left_(notes), endian_(endian), alignment_(alignment) {}

  std::optional<Note> next();

 private:
  Bytes left_;
  Endian endian_;
  uint64_t alignment_;
};

/// Of all headers of a file together; programs have a few, and those of annotated builds thousands.
constexpr uint64_t kNotesMax = uint64_t{1} << 20;
/// Those of linkers have 8 to 32 bytes.
constexpr size_t kBuildIdBytesMax = 1024;

/// The GNU build-id of a file, hex; "" = none. Sections say it or, where there are none, program
/// headers, as elfutils sees it. `bytes`: all of the file.
std::string gnu_build_id(const ElfHeaders& headers, Bytes bytes);

}  // namespace tracewell::symbols
