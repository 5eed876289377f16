#include "target/recorded/auxv.h"

#include <elf.h>

namespace tracewell::target {

std::optional<uint64_t> find_auxv(Bytes auxv, uint64_t type, uint32_t address_bytes,
                                  Endian endian) {
  ByteReader in(auxv, endian);
  while (true) {
    const auto key = in.uint(address_bytes);
    const auto value = in.uint(address_bytes);
    if (!key || !value || *key == AT_NULL) return std::nullopt;
    if (*key == type) return value;
  }
}

std::vector<uint8_t> make_auxv(const symbols::MappedImage& program) {
  const symbols::ImageFacts& facts = program.image->facts();
  std::vector<uint8_t> out;
  ByteWriter writer(out, facts.endian);
  auto add = [&](uint64_t type, uint64_t value) {
    writer.uint(type, facts.address_bytes);
    writer.uint(value, facts.address_bytes);
  };
  if (facts.program_headers) {
    add(AT_PHDR, program.at(*facts.program_headers));
    add(AT_PHENT, facts.program_header_bytes);
    add(AT_PHNUM, facts.program_header_count);
  }
  add(AT_PAGESZ, 4096);
  // Without AT_BASE, GDB takes our made-up pc for the loader's entry point and puts the loader's
  // symbols around address 0. Here they are out of the way: user space does not reach that far.
  if (!facts.interpreter.empty())
    add(AT_BASE, facts.address_bytes == 4 ? 0xffe00000 : 0xffff800000000000);
  add(AT_ENTRY, program.at(facts.entry));
  add(AT_NULL, 0);
  return out;
}

}  // namespace tracewell::target
