// One instruction out of the bytes. Operands are big-endian whatever the target is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ax/fault.h"
#include "ax/opcodes.h"

namespace tracewell::ax {

/// An expression's bytes, borrowed. The same type as tracewell::Bytes, whose header is hosted.
using Code = std::span<const uint8_t>;

struct Instruction {
  const OpcodeInfo* info = nullptr;
  size_t offset = 0;
  size_t size = 0;             // with operands; the next instruction is at offset + size
  uint64_t operand = 0;        // the number after the opcode; for printf the count of arguments
  const char* text = nullptr;  // printf only: the format, inside the code, NUL-terminated
  size_t text_size = 0;        // without the NUL at its end

  Opcode opcode() const { return info->opcode; }
  bool is_branch() const { return opcode() == Opcode::op_goto || opcode() == Opcode::op_if_goto; }
  /// How many values must be on the stack; for pick more than it pops, which is none.
  size_t needs() const { return opcode() == Opcode::op_pick ? operand + 1 : pops(); }
  /// How many values it takes off the stack; for printf its arguments too.
  size_t pops() const { return info->pops + (opcode() == Opcode::op_printf ? operand : 0); }
};

/// Decodes the instruction at `offset`. None, or: MissingEnd (offset at or past the end of the
/// code), UnrecognizedOpcode, TruncatedOperand, UnterminatedString; then `out` is not touched.
/// Reads nothing outside `code`.
Fault decode(Code code, size_t offset, Instruction& out);

}  // namespace tracewell::ax
