// ImageReader: fills an Image from ELF bytes. One use each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/image.h"

namespace tracewell::symbols {

class ImageReader {
 public:
  ImageReader(Bytes bytes, Image& image) : bytes_(bytes), image_(image) {}
  ImageReader(const ImageReader&) = delete;
  ImageReader& operator=(const ImageReader&) = delete;

  Status read();

 private:
  Status read_header(const ElfHeaders& headers);
  Status read_segments(const ElfHeaders& headers);
  Status add_load(const ElfSegment& one);
  Status read_interpreter(uint64_t offset, uint64_t size);
  Status read_sections(const ElfHeaders& headers);
  void read_dynamic_flags(uint64_t offset, uint64_t size);
  void find_program_headers(uint64_t file_offset);
  void merge_ranges();
  /// Corrupt when it is not wholly inside the file.
  Result<Bytes> file_range(uint64_t offset, uint64_t size, const char* what) const;

  Bytes bytes_;
  Image& image_;
  bool pie_flag_ = false;
  bool has_soname_ = false;
  bool any_load_ = false;
  uint64_t highest_ = 0;
  std::vector<ImageRange> found_;
  struct Load {
    uint64_t address, offset, file_size;
  };
  std::vector<Load> loads_;
};

}  // namespace tracewell::symbols
