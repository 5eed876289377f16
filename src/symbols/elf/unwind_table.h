// The unwind table of an ELF image (.eh_frame), for what it tells of code besides unwinding: where
// each function begins and ends, and where the handlers of C++ exceptions are. It is there in
// stripped files too, and in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/bytes.h"
#include "symbols/work.h"

namespace tracewell::symbols {

struct UnwindRange {
  uint64_t start = 0, end = 0;
  uint64_t handlers = 0;  // where its table of handlers is, 0 = has none
  bool operator==(const UnwindRange&) const = default;
};

/// Calls `take` with each until it returns false. `section` is, or begins with, .eh_frame of a
/// little-endian 64-bit image, at `address`. In file order; entries that make no sense are left
/// out, and all behind one that is cut. Takes no memory, whatever stands there.
void each_unwind_range(Bytes section, uint64_t address,
                       const std::function<bool(const UnwindRange&)>& take);

/// Where .eh_frame is by its index (.eh_frame_hdr, which a program header of the type GNU_EH_FRAME
/// names); 0 when the index does not say.
uint64_t unwind_table_of(Bytes header, uint64_t address);

/// The places to which exceptions lead that pass through the function at `start`. `table` begins at
/// `address`, UnwindRange::handlers. What makes no sense is left out. Any number of functions may
/// name one table, so each call in it takes one of `work`; where that is over, some are missing.
std::vector<uint64_t> read_handlers(Bytes table, uint64_t address, uint64_t start, Work& work);

}  // namespace tracewell::symbols
