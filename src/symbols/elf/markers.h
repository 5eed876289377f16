// Static tracepoint markers of an ELF file: places that its author has named for whoever traces it.
// USDT probes (section .note.stapsdt, as <sys/sdt.h> of SystemTap makes them) and the sites of
// Tracewell's own trace hooks (.note.tracewell.hooks, include/tracewell/hook_site.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace tracewell::symbols {

struct Marker {
  enum class Kind : uint8_t { Probe, Hook };
  Kind kind = Kind::Probe;
  std::string id;       // "PROVIDER:NAME", "tracewell:LABEL"
  uint64_t address = 0;  // in the file's own terms
  /// A probe's 16-bit count of those who want it, likewise; 0 = it has none.
  uint64_t semaphore = 0;
  /// Where its arguments are, separated by blanks, each `BYTES@PLACE` as the assembler spells it:
  /// "-4@%edi 8@-24(%rbp) 4@$5". A hook's first is its hook word.
  std::string arguments;
};

/// In the file's order. A note that is damaged, and those behind it, are left out.
std::vector<Marker> find_markers(const ElfFile& file);

}  // namespace tracewell::symbols
