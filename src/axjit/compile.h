// Agent-expression bytecode to native x86-64 code. What the code does is what ax/interpret.h does,
// bit for bit: values, which error at which instruction, what was recorded before it. How it is
// called, and what it may touch, is said in ax/native.h.
//
//   survey()   which registers and variables an expression needs  ->  the caller gives them places
//   compile()  the code, to be copied anywhere, and its table of loads that may fault
//
// Both are pure functions and take any bytes; what ax::verify() refuses they refuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ax/decode.h"
#include "ax/interpret.h"
#include "ax/verify.h"
#include "base/result.h"

namespace tracewell::axjit {

/// What an expression may do on some way through it. Numbers are ascending, without repetition.
struct Needs {
  std::vector<uint32_t> registers;  // by target description
  std::vector<uint32_t> variables;  // got, set or recorded
  bool records = false;             // trace, tracenz, tracev, …
  bool prints = false;
  bool loops = false;  // it can come to an instruction twice
};

/// Errors: InvalidArgument with ax::describe()'s text and the offset of the instruction.
Result<Needs> survey(ax::Code code, ax::Purpose purpose);

/// Where a register of the program was saved.
struct RegisterPlace {
  uint32_t number = 0;
  int32_t offset = 0;      // from the context, in bytes
  uint8_t size_bytes = 8;  // 1, 2, 4 or 8; zero-extended
};

struct VariablePlace {
  enum class Kind : uint8_t {
    Cell,      // 8 bytes at `offset` in the context's variables
    Computed,  // asked for with calls->get_variable; setv does nothing
  };
  uint32_t number = 0;
  Kind kind = Kind::Cell;
  uint32_t offset = 0;  // in bytes, a multiple of 8, below 2 GiB
};

/// How ref8 to ref64 read memory.
enum class MemoryReads : uint8_t {
  Direct,  // by loads that may fault, listed in Native::loads
  Called,  // by calls->read_memory
};

struct Surroundings {
  std::span<const RegisterPlace> registers;  // one that is not here is a register access error
  std::span<const VariablePlace> variables;  // one that is not here is unknown
  MemoryReads memory_reads = MemoryReads::Direct;
  size_t budget = ax::kBudget;  // instructions of bytecode; at most 2^32-1 count
  bool falls_out = false;       // at its end it goes on behind the code, in place of returning
};

/// A load that may fault and where its thread is to go on then; offsets in the code.
struct FaultingLoad {
  uint32_t load = 0;
  uint32_t resume = 0;
};

struct Native {
  std::vector<uint8_t> code;        // its entry is its first byte; best placed at a multiple of 16
  std::vector<FaultingLoad> loads;  // ascending
  uint16_t clobbers = 0;            // bit n: general register n, as instructions number them
  uint32_t stack_bytes = 0;         // at most, with the return address
  bool calls = false;               // it may call an entry of the context's `calls`
};

/// The code is smaller than 1 MiB; that of GDB's conditions is smaller than 200 bytes.
///
/// Between a getv and the setv of the same variable that follows it without a branch target or
/// another effect in between (`$n = $n + 1`), nothing is lost when other threads do the same: what
/// was computed from an old value is computed again.
///
/// Errors: InvalidArgument as for survey(), or a place that is none (a register of 3 bytes, a cell
/// that is not aligned).
Result<Native> compile(ax::Code code, ax::Purpose purpose, const Surroundings& surroundings);

}  // namespace tracewell::axjit
