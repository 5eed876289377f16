// What one instruction of 64-bit code means to those who want to write a jump over it: how it goes
// on, which places it names, and whether a copy of it can stand elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "machine/own_code.h"

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

/// decode_code() for those who go through very many, in a tenth of the time: what is common to
/// instructions of the same prefixes, opcode and ModRM byte is found out once, and kept. For one
/// thread.
class CodeDecoder {
 public:
  CodeDecoder();
  CodeInstruction decode(Bytes code, uint64_t pc);
  /// How many had to be found out.
  uint64_t found_out() const { return found_out_; }

  /// Of all that have these in common.
  struct Kind {
    uint8_t immediate_bytes = 0;
    CodeInstruction::Flow flow = CodeInstruction::Flow::Onward;
    uint16_t traits = 0;
  };

 private:
  struct Known {
    uint32_t key = 0;  // 0 = none
    Kind kind;
  };
  /// Up to the immediate operand.
  struct Shape {
    uint32_t form = 0, key = 0;
    size_t bytes = 0, displacement_bytes = 0;
  };
  CodeInstruction find_out(const OwnCode& own, uint64_t pc, const Shape* shape);
  Known& known_at(uint32_t key);

  std::vector<Known> known_;
  std::vector<uint8_t> forms_;  // of opcodes: has it a ModRM byte?
  uint64_t found_out_ = 0;
};

}  // namespace tracewell::machine
