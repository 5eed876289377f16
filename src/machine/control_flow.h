// Instructions one by one: how long they are, where they may lead, how they read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tracewell::machine {

/// What an instruction does to the flow of control. System calls and traps go Onward: who comes
/// back from them goes on behind them.
enum class Flow : uint8_t {
  Onward,
  Jump,     // conditional or not, near or far
  Call,     // near or far
  Return,   // near or far, from an interrupt too
  Unknown,  // not an instruction, or not one of a machine that is known here
};

struct FlowInstruction {
  uint8_t length = 0;  // bytes; 0 = Unknown
  Flow flow = Flow::Unknown;
  /// Whoever else runs before the next instruction of its thread may write the program's memory: a
  /// system call, an interrupt, a far jump, call or return (by which 32-bit programs of 64-bit
  /// Windows get to their system calls, and others into code that their debugger does not see).
  bool leaves = false;
  /// A string instruction that may be done again: it goes on behind itself, or at itself.
  bool repeats = false;
  /// A Jump that is not always taken.
  bool conditional = false;
  /// Where a Jump or Call leads that says so itself: bytes from behind the instruction.
  std::optional<int32_t> distance = std::nullopt;
};

/// Decodes the instructions of one machine. Used by one thread at a time.
class FlowDecoder {
 public:
  /// `machine` as in Catalog::machine. Of all but "x86-64" and "i386", any instruction is Unknown.
  explicit FlowDecoder(std::string_view machine);
  ~FlowDecoder();
  FlowDecoder(const FlowDecoder&) = delete;
  FlowDecoder& operator=(const FlowDecoder&) = delete;

  /// Of an address: 8 or 4, 0 for another machine.
  uint32_t address_bytes() const { return address_bytes_; }
  /// `code` begins with the instruction.
  FlowInstruction decode(Bytes code) const;
  /// Its name alone, without prefixes; empty when it is Unknown.
  std::string_view mnemonic(Bytes code) const;
  /// Does it tell an operand from where it stands, so that it reads otherwise elsewhere?
  bool is_relative(Bytes code) const;
  /// In Intel's spelling, as it reads at address `pc`; empty when it is Unknown.
  std::string text(Bytes code, uint64_t pc) const;

 private:
  struct Zydis;
  std::unique_ptr<Zydis> zydis_;  // nullptr = another machine
  uint32_t address_bytes_ = 0;
};

}  // namespace tracewell::machine
