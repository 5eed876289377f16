// PeReader: fills an Image from the bytes of a PE file. One use each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "symbols/image.h"
#include "symbols/pe/pe_file.h"

namespace tracewell::symbols {

class PeReader {
 public:
  /// Is it a PE file, or one of those that go with them and that nobody else takes?
  static bool is_for(Bytes bytes);

  PeReader(Bytes bytes, Image& image) : bytes_(bytes), image_(image) {}
  Status read();

 private:
  void find_written_by_loader(const PeFile& file);
  void add_range(const PeFile& file, uint32_t rva, Bytes bytes);
  void read_relocations(const PeFile& file);
  void add_relocation(const PeFile& file, uint64_t rva, uint16_t type);
  void keep_sound_relocations();

  Bytes bytes_;
  Image& image_;
  std::vector<PeFile::Place> holes_;  // sorted
};

}  // namespace tracewell::symbols
