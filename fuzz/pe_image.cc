// PE files from outside: whatever the bytes are, Image answers an image or an error, reading around
// its ranges (moved, too) stays inside them, and asking for names gives an answer, and soon.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "symbols/image.h"
#include "symbols/names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  constexpr uint64_t kProbes = 64, kBias = 0x12340000;
  std::vector<uint8_t> bytes = {'M', 'Z'};  // what does not begin so is not ours
  bytes.insert(bytes.end(), data + (size < 2 ? size : 2), data + size);
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  auto image = symbols::Image::parse(*owner, owner, "fuzz");
  if (!image) return 0;
  uint8_t into[64];
  for (const symbols::ImageRange& range : (*image)->read_only()) {
    (*image)->read(range.address, into, kBias);
    (*image)->read(range.end() - 1, into, kBias);
    (*image)->covers(range.address, range.bytes.size() + 1);
  }
  const auto names = symbols::Names::read(*image, "");
  const symbols::ImageFacts& facts = (*image)->facts();
  for (uint64_t i = 0; i < kProbes; ++i) {
    const uint64_t address = facts.link_base + facts.span_bytes / kProbes * i;
    names->function_at(address);
    names->object_at(address);
    names->line_at(address);
  }
  return 0;
}
