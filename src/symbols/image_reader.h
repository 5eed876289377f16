// ImageReader: fills an Image from ELF bytes. One use each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "symbols/image.h"

struct Elf;

namespace tracewell::symbols {

class ImageReader {
 public:
  ImageReader(Bytes bytes, Image& image) : bytes_(bytes), image_(image) {}
  ImageReader(const ImageReader&) = delete;
  ImageReader& operator=(const ImageReader&) = delete;
  ~ImageReader();

  Status read();

 private:
  Status read_header();
  Status read_segments();
  Status add_load(uint64_t address, uint64_t offset, uint64_t file_size, uint64_t memory_size,
                  uint64_t alignment, bool writable);
  Status read_interpreter(uint64_t offset, uint64_t size);
  Status read_sections();
  void read_dynamic_flags(uint64_t offset, uint64_t size);
  void find_program_headers(uint64_t file_offset);
  void merge_ranges();
  /// Corrupt when it is not wholly inside the file.
  Result<Bytes> file_range(uint64_t offset, uint64_t size, const char* what) const;

  Bytes bytes_;
  Image& image_;
  ::Elf* elf_ = nullptr;
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
