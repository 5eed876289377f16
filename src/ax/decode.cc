#include "ax/decode.h"

#include "base/endian.h"

namespace tracewell::ax {
namespace {

/// printf: count of arguments (1), length of the text with its NUL (2), text.
Fault decode_printf(const uint8_t* at, size_t left, Instruction& out) {
  const size_t length = load_uint(at + 2, 2, Endian::Big);
  if (left < 4 + length) return Fault::TruncatedOperand;
  if (length == 0 || at[4 + length - 1] != 0) return Fault::UnterminatedString;
  out.operand = at[1];
  out.text = reinterpret_cast<const char*>(at + 4);
  out.text_size = length - 1;
  out.size += length;
  return Fault::None;
}

}  // namespace

Fault decode(Code code, size_t offset, Instruction& out) {
  if (offset >= code.size()) return Fault::MissingEnd;
  const uint8_t* at = code.data() + offset;
  const size_t left = code.size() - offset;
  const OpcodeInfo* info = opcode_info(at[0]);
  if (info == nullptr) return Fault::UnrecognizedOpcode;
  if (left - 1 < info->operand_bytes) return Fault::TruncatedOperand;

  Instruction instruction;
  instruction.info = info;
  instruction.offset = offset;
  instruction.size = 1 + size_t{info->operand_bytes};
  Fault fault = Fault::None;
  if (info->opcode == Opcode::op_printf)
    fault = decode_printf(at, left, instruction);
  else
    instruction.operand = load_uint(at + 1, info->operand_bytes, Endian::Big);
  if (fault == Fault::None) out = instruction;
  return fault;
}

}  // namespace tracewell::ax
