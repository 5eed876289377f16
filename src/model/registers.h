// RegisterLayout: which registers a machine has and where each stands in a register block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracewell {

/// One register of a target description.
struct Register {
  std::string name;         // as the target description spells it
  uint32_t number = 0;      // the remote protocol's number; bit of the R mask, operand of `reg`
  uint32_t offset = 0;      // bytes from the start of the block
  uint32_t size_bytes = 0;
  std::string type;         // the description's word: int64, code_ptr, ieee_single, vec128, …
};

/// All registers, by ascending number, packed without gaps: the remote protocol's `g` order.
struct RegisterLayout {
  std::vector<Register> registers;
  uint32_t size_bytes = 0;            // of a whole block
  std::optional<uint32_t> pc_index;   // into `registers`
  std::optional<uint32_t> sp_index;

  bool empty() const { return registers.empty(); }
  /// nullptr when there is no such register.
  const Register* find(std::string_view name) const;
  const Register* by_number(uint32_t number) const;
  const Register* pc() const { return pc_index ? &registers[*pc_index] : nullptr; }
};

/// A thread's registers at one moment, as far as they are known.
struct RegisterState {
  std::vector<uint8_t> block;  // in a RegisterLayout's order; zeros where not valid
  std::vector<uint8_t> valid;  // one bit a register (by index), least significant bit first

  /// Nothing is known.
  void reset(const RegisterLayout& layout);
  bool is_valid(uint32_t index) const { return (valid[index / 8] >> (index % 8) & 1) != 0; }
  /// `value` has the register's size, or is empty: not known.
  void set(const RegisterLayout& layout, uint32_t index, std::span<const uint8_t> value);
};

}  // namespace tracewell
