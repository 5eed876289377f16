// Refuses an expression before anything of it runs. What verify() accepts can, in run(), still
// divide by zero, meet memory that is not there or use its budget up; it can never leave its code,
// its stack or its operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ax/decode.h"
#include "ax/fault.h"

namespace tracewell::ax {

/// The longest expression that is accepted, in bytes. GDB sends 184 at most; branch offsets are 16
/// bits wide. The verifier's tables (7 KiB) live on the caller's stack, hence no more.
constexpr size_t kCodeBytesMax = 4096;
/// How many values the stack holds; gdbserver's has as many.
constexpr size_t kStackSlots = 100;

/// What the expression is for: a condition must leave a value, an action need not.
enum class Purpose : uint8_t { Condition, Action };

struct VerifyResult {
  Fault fault = Fault::None;
  uint8_t opcode = 0;     // the byte at `offset`; 0 where there is none
  uint8_t stack_max = 0;  // when accepted: the most values that are ever on the stack
  size_t offset = 0;      // of the instruction at fault

  bool ok() const { return fault == Fault::None; }
};

/// Refused are: no code, too much code, unknown and floating-point opcodes, cut operands, branches
/// that leave the code or land inside an instruction, stack underflow and overflow, pick beyond the
/// stack, two ways to one instruction with different stack heights, running off the last byte,
/// printf text without its zero byte. Every instruction is decoded, also one that cannot be
/// reached; heights are checked where control can go. Time is linear in the size of the code.
VerifyResult verify(Code code, Purpose purpose);

/// One line for people, such as "floating point opcode 'ref_float' is not supported" or "bad branch
/// in 'goto' at byte 3". Writes at most `size` bytes, the last one NUL; returns the text's length.
size_t describe(const VerifyResult& result, char* buffer, size_t size);

}  // namespace tracewell::ax
