#include "ax/disassemble.h"

#include "ax/text_out.h"

namespace tracewell::ax {
namespace {

void quote(TextOut& out, const char* text, size_t size) {
  out.character('"');
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == '"' || byte == '\\') out.character('\\');
    if (byte >= 0x20 && byte < 0x7f) {
      out.character(text[i]);
    } else {
      out.text("\\x");
      out.hex_byte(byte);
    }
  }
  out.character('"');
}

}  // namespace

size_t disassemble(const Instruction& instruction, char* buffer, size_t size) {
  TextOut out(buffer, size);
  out.text(instruction.info->name);
  if (instruction.info->operand_bytes > 0) {
    out.character(' ');
    out.decimal(instruction.operand);
  }
  if (instruction.opcode() == Opcode::op_printf) {
    out.text(", ");
    quote(out, instruction.text, instruction.text_size);
  }
  return out.length();
}

}  // namespace tracewell::ax
