#include "symbols/pe/program_hash.h"

#include "base/murmur3.h"

namespace tracewell::symbols {

std::optional<uint64_t> program_hash(const Image& image) {
  constexpr uint32_t kSeed = 0x1337;
  if (image.file().size() > kHashedBytesMax) return std::nullopt;
  return image.facts().address_bytes == 8 ? murmur3_x64_128(image.file(), kSeed)[0]
                                          : murmur3_x86_32(image.file(), kSeed);
}

}  // namespace tracewell::symbols
