// Instructions as text, for people.
#pragma once

#include <cstddef>

#include "ax/decode.h"

namespace tracewell::ax {

/// Room for any instruction but printf, whose text may be cut to fit.
constexpr size_t kInstructionTextMax = 48;

/// Writes the manual's name and the operand in decimal: "const8 220", "if_goto 23", "end",
/// "printf 2, \"x=%d\"" (the count of arguments, the text with what is not plain as \xNN). At most
/// `size` bytes, the last one NUL; returns the text's length.
size_t disassemble(const Instruction& instruction, char* buffer, size_t size);

}  // namespace tracewell::ax
