// How large variables are, from DWARF (.debug_info): for symbols that do not say it themselves, as
// those of PE files.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "symbols/work.h"

namespace tracewell::symbols {

/// They must outlive what is read from them.
struct DebugSections {
  Bytes info;           // .debug_info
  Bytes abbreviations;  // .debug_abbrev
  Bytes addresses;      // .debug_addr; may be empty
  Endian endian = Endian::Little;
};

struct VariableSize {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes, not 0
};

/// Units may share their tables and be as small as a byte each, and an entry of a byte may have any
/// number of attributes. Debug information of 500 megabytes has some 200 million of them.
constexpr uint64_t kVariableWorkMax = uint64_t{1} << 28;

/// Of the variables that have one place for as long as the program runs, by address; of several at
/// one place the largest. DWARF 2 to 5. What makes no sense is left out, and so are variables whose
/// type stands in another unit. A unit, an abbreviation, an entry, an attribute, and each step from
/// a variable to what its type is made of, takes one of `work`; what is behind its end is left out.
std::vector<VariableSize> variable_sizes(const DebugSections& sections, Work& work);

}  // namespace tracewell::symbols
