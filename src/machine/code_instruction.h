// What one instruction of 64-bit code means to those who want to write a jump over it: how it goes
// on, which places it names, and whether a copy of it can stand elsewhere.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace tracewell::machine {

struct CodeInstruction {
  enum class Flow : uint8_t {
    Onward,
    Conditional,  // jcc, loop, jrcxz, xbegin
    Jump,
    Call,
    Return,
    System,  // the kernel looks at its address: syscall, sysenter, int 0x80
    Stop,    // int3, hlt, ud2 and their kin: nobody goes on behind them by themselves
  };
  /// How a jump or call finds where to go.
  enum class Through : uint8_t {
    Displacement,  // `target`
    Register,
    Pointer,  // a rip-relative slot, as in a procedure linkage table
    Table,    // a slot at a fixed address (`table`) plus 8 * a register
    Memory,   // any other slot
  };

  uint8_t length = 0;  // 0 = not an instruction
  Flow flow = Flow::Onward;
  Through through = Through::Displacement;
  bool nop = false;
  bool int3 = false;
  bool endbr = false;       // endbr64: where indirect branches may lead
  bool address_of = false;  // lea: `named` is not read or written here
  bool table_load = false;  // loads a signed 32-bit number from base + 4 * index, as from a table
                            // of distances to code
  std::optional<uint64_t> target;  // of a direct branch or call
  std::optional<uint64_t> named;   // by a rip-relative operand
  uint64_t table = 0;

  /// Execution never goes on behind it of itself.
  bool ends() const {
    return flow == Flow::Jump || flow == Flow::Return || flow == Flow::Stop;
  }
};

/// `code` begins with the instruction, which stands at `pc`.
CodeInstruction decode_code(Bytes code, uint64_t pc);

}  // namespace tracewell::machine
