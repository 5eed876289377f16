// What native code is made from, beside its expression, and what it is once it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ax/interpret.h"

namespace tracewell::axjit {

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

}  // namespace tracewell::axjit
