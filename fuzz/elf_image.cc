// ELF files from outside: whatever the bytes are, Image answers an image or an error, and reading
// around its ranges stays inside them; so does looking for markers.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "symbols/elf/elf_file.h"
#include "symbols/elf/markers.h"
#include "symbols/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  symbols::find_markers(symbols::ElfFile(tracewell::Bytes(data, size)));
  auto owner = std::make_shared<std::vector<uint8_t>>(data, data + size);
  auto image = symbols::Image::parse(*owner, owner, "fuzz");
  if (!image) return 0;
  uint8_t into[64];
  for (const symbols::ImageRange& range : (*image)->read_only()) {
    (*image)->read(range.address, into);
    (*image)->read(range.end() - 1, into);
    (*image)->covers(range.address, range.bytes.size() + 1);
  }
  return 0;
}
