// What x86 instructions do to memory: which operands, how large, read or written, and where, given
// the registers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace tracewell::machine {

/// One operand in memory. Its address is segment base + base + index * scale + displacement, cut to
/// `address_bits`.
struct MemoryOperand {
  enum class Segment : uint8_t { Flat, Fs, Gs };  // Flat: has no base worth naming

  uint32_t size = 0;           // bytes; 0 = not fixed
  bool reads = false;          // neither: it is only named, as by a prefetch
  bool writes = false;
  bool hidden = false;         // not seen in the disassembly: a push's stack slot
  bool vector_index = false;   // gather and scatter: many addresses, only the base is here
  bool byte_index = false;     // of the index register, only the low byte counts: xlat
  bool masked = false;         // only some of its elements, by a register that is not here
  /// Number of the general register whose value, a signed number of bits, moves the address by
  /// whole operands: bt, bts, btr, btc. Or -1.
  int8_t bit_offset = -1;
  Segment segment = Segment::Flat;
  int8_t base = -1;            // number of the general register in instruction coding (ax cx dx bx
  int8_t index = -1;           // sp bp si di r8 …), kIp, or -1
  uint8_t scale = 0;
  uint8_t address_bits = 64;
  int64_t displacement = 0;
  static constexpr int8_t kIp = 16;
};

struct Instruction {
  /// How the stack is used, where an operand's address is not what the processor accesses.
  enum class Stack : uint8_t {
    None,
    Push,
    Pop,
    Call,
    Return,
    PushAll,
    PopAll,
    Enter,
    Leave,
    Other
  };

  uint8_t length = 0;          // 0 = not an instruction
  bool branches = false;       // may go on elsewhere than behind itself: jumps, calls, system calls
  bool repeats = false;        // string instruction with a repeat prefix
  Stack stack = Stack::None;
  uint32_t stack_bytes = 0;    // of one slot
  uint8_t count = 0;
  std::array<MemoryOperand, 4> memory = {};  // in operand order

  std::span<const MemoryOperand> operands() const { return {memory.data(), count}; }
};

/// The general registers in instruction coding (16 or 8 of them), and the address of the
/// instruction.
struct AddressState {
  std::array<uint64_t, 16> general = {};
  uint64_t pc = 0;
};
/// By how much a register moves the operand (bit_offset); 0 where none does.
uint64_t bit_offset_bytes(const MemoryOperand& operand, const AddressState& state);
/// Without the segment's base, and without bit_offset_bytes().
uint64_t effective_address(const MemoryOperand& operand, const AddressState& state,
                           uint8_t length);

/// Decodes, and remembers what it decoded. Not shared between threads.
class InstructionDecoder {
 public:
  explicit InstructionDecoder(bool wide);  // 64-bit code; else 32-bit
  ~InstructionDecoder();
  InstructionDecoder(InstructionDecoder&&) noexcept;

  /// `opcode` is the whole instruction, 1 to 15 bytes. The result lives until the next call.
  const Instruction& decode(Bytes opcode);

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace tracewell::machine
