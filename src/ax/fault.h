// Why an expression was refused or stopped. The texts are what a user reads after `terror`; the
// first eight are gdbserver's, so that scripts which look for them go on working.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewell::ax {

#define TRACEWELL_AX_FAULTS(FAULT)                     \
  FAULT(None, "no error")                              \
  FAULT(EmptyExpression, "empty expression")           \
  FAULT(EmptyStack, "empty stack")                     \
  FAULT(StackOverflow, "stack overflow")               \
  FAULT(StackUnderflow, "stack underflow")             \
  FAULT(UnhandledOpcode, "unhandled opcode")           \
  FAULT(UnrecognizedOpcode, "unrecognized opcode")     \
  FAULT(DivideByZero, "divide by zero")                \
  FAULT(BadBranch, "bad branch")                       \
  FAULT(MemoryAccess, "memory access error")           \
  FAULT(RegisterAccess, "register access error")       \
  FAULT(BudgetExceeded, "instruction budget exceeded") \
  FAULT(TruncatedOperand, "truncated operand")         \
  FAULT(MissingEnd, "missing end")                     \
  FAULT(TooLong, "expression too long")                \
  FAULT(HeightMismatch, "stack heights disagree")      \
  FAULT(BadPick, "bad pick index")                     \
  FAULT(UnterminatedString, "unterminated string")     \
  FAULT(NotRecorded, "value not recorded")             \
  FAULT(PrintFailed, "print error")

enum class Fault : uint8_t {
#define TRACEWELL_AX_ENUMERATOR(name, text) name,
  TRACEWELL_AX_FAULTS(TRACEWELL_AX_ENUMERATOR)
#undef TRACEWELL_AX_ENUMERATOR
};

/// The text of a fault, NUL-terminated, static.
const char* fault_text(Fault fault);

}  // namespace tracewell::ax
