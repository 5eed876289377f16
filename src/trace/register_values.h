// Registers by the names that people give them, and addresses that are relative to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/registers.h"

namespace tracewell::trace {

/// Is it told without being asked for by its name? Not segment registers, what only x64dbg has, and
/// what is too wide to be read by anybody.
bool is_shown_unasked(const Register& one);

/// A register at some moment.
struct NamedRegister {
  std::string name;                           // as it is spelled
  std::optional<std::vector<uint8_t>> bytes;  // little or big endian as the trace; none: not known
};

/// A register of the trace, a part of one (eax, al), a vector of which the trace has the halves
/// (ymm1), a flag (zf); with or without a $ before it. InvalidArgument: the trace has none of that
/// name.
Result<NamedRegister> register_by_name(const Catalog& catalog, const RegisterState& state,
                                       std::string_view name);

/// Is this an address by registers, and not a number or a name?
inline bool is_relative(std::string_view text) { return text.starts_with('$'); }
/// `$rsp`, `$rbp-0x10`, `$rbx+$rcx*8+4`; around the end of what addresses can be. InvalidArgument
/// when it is none, or a register is not known.
Result<uint64_t> relative_address(const Catalog& catalog, const RegisterState& state,
                                  std::string_view text);

}  // namespace tracewell::trace
