// Architectures: from the names that target descriptions use (BFD's) to what a reader needs.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/endian.h"

namespace tracewell::machine {

struct Architecture {
  std::string_view prefix;   // BFD's name, or how all its variants begin: "powerpc:common64"
  std::string_view machine;  // what Catalog::machine says: "powerpc64"
  uint32_t address_bytes = 8;
  Endian endian = Endian::Little;  // the usual one
  bool either_endian = false;      // the name alone does not tell
};

/// The entry with the longest matching prefix, or nullptr for a name we have never heard of.
const Architecture* find_architecture(std::string_view bfd_name);
/// The first entry of that machine, or nullptr.
const Architecture* find_machine(std::string_view machine);

}  // namespace tracewell::machine
