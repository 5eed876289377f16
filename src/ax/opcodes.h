// The opcodes of agent-expression bytecode as an enum and a table of facts, both from opcodes.def.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewell::ax {

/// Enumerators are the manual's names behind `op_`, because two of them are C++ keywords.
enum class Opcode : uint8_t {
#define OPCODE(name, code, ...) op_##name = code,
#include "ax/opcodes.def"
};

enum class Group : uint8_t { Arithmetic, Memory, Stack, Flow, Trace, Print, Float };

/// What the table says of one opcode. Names are held inside, not pointed to, so that the table
/// needs no relocation where the code is copied into another process.
struct OpcodeInfo {
  char name[16];
  Opcode opcode;
  uint8_t operand_bytes;  // fixed part; printf's text comes after it
  uint8_t pops;
  uint8_t pushes;
  Group group;
};

/// What is known of the opcode `code`, or null if there is no such opcode.
const OpcodeInfo* opcode_info(uint8_t code);

/// Looks an opcode up by the manual's name (NUL-terminated, exact); null if there is none.
const OpcodeInfo* find_opcode(const char* name);

/// All opcodes in the order of their codes.
const OpcodeInfo* opcodes_begin();
const OpcodeInfo* opcodes_end();

}  // namespace tracewell::ax
