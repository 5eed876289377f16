// Where an x86 instruction goes on: what call trees and basic blocks are made of.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace tracewell::machine {

struct Flow {
  /// Next: on to the instruction behind it (system calls and traps, too). Jump: conditional or not.
  enum class Kind : uint8_t { Next, Jump, Call, Return };

  Kind kind = Kind::Next;
  uint8_t length = 0;  // bytes; 0 = not an instruction
};

/// `address_bytes` is 8 for 64-bit code, 4 for 32-bit code.
Flow flow_of(Bytes opcode, uint32_t address_bytes);

}  // namespace tracewell::machine
