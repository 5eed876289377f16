// Agent-expression bytecode to native x86-64 code. What the code does is what ax/interpret.h does,
// bit for bit: values, which error at which instruction, what was recorded before it. How it is
// called, and what it may touch, is said in ax/native.h.
//
//   survey()   which registers and variables an expression needs  ->  the caller gives them places
//   compile()  the code, to be copied anywhere, and its table of loads that may fault
//
// Both are pure functions and take any bytes; what ax::verify() refuses they refuse.
#pragma once

#include <cstdint>
#include <vector>

#include "ax/decode.h"
#include "ax/verify.h"
#include "axjit/native_code.h"
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
