// An argument of a static tracepoint marker, from its text to agent bytecode.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/registers.h"

namespace tracewell::agent {

struct MarkerOperand {
  std::vector<uint8_t> code;  // verified; leaves the value, extended to 64 bits
  bool is_signed = false;
};

/// "[-]BYTES@PLACE" as <sys/sdt.h> has the assembler write it for x86: `$5`, `%edi`, `-8(%rbp)`,
/// `(%rax,%rcx,4)`. nullopt: it is not of that form, or speaks of what `layout` has not, of a
/// symbol, a segment, or a floating-point number.
std::optional<MarkerOperand> compile_marker_operand(std::string_view text,
                                                    const RegisterLayout& layout);

}  // namespace tracewell::agent
