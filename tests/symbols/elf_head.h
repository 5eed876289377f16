// The header of an ELF file that a test writes by hand, and what stands behind it, byte by byte.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tracewell::test {

/// Of a 64-bit little-endian file. Its program headers follow at once.
inline Elf64_Ehdr elf_head(uint16_t type, size_t segments) {
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = head.e_version = EV_CURRENT;
  head.e_type = type;
  head.e_machine = EM_X86_64;
  head.e_phoff = head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = static_cast<uint16_t>(segments);
  return head;
}

template <class Value>
void append(std::vector<uint8_t>& out, const Value& value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace tracewell::test
