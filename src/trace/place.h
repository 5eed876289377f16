// ADDR of a command line: a number, or what an image calls a place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "trace/images/address_names.h"

namespace tracewell::trace {

struct GivenPlace {
  uint64_t address = 0;
  std::optional<uint64_t> size_bytes;  // LEN; not 0
  uint64_t symbol_bytes = 0;  // from there to the end of what was named; 0 = not known

  /// The last byte: of LEN, or else of `otherwise` bytes; not behind the end of memory.
  uint64_t last(uint64_t otherwise) const;
};

/// "ADDR" or "ADDR,LEN", where ADDR may be NAME, NAME+N, MODULE!NAME or MODULE!NAME+N if there are
/// names, in memory with addresses of `address_bytes`. InvalidArgument begins with `what`:
/// "find exec work: …".
Result<GivenPlace> parse_place(std::string_view what, std::string_view text,
                               const AddressNames& names, uint32_t address_bytes);

}  // namespace tracewell::trace
