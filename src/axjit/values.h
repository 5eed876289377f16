// The evaluation stack as it is known while code is emitted: where each value is at this point of
// the code. A value is put into a register only when something is done with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "axjit/assembler.h"

namespace tracewell::axjit {

struct Value {
  enum class Kind : uint8_t {
    Constant,
    Pooled,  // in the register `pooled` of the pool, plus `offset`; it owns that register
    Cell,    // in the frame's cell of number `cell`, which is its own place on the stack
    Saved,   // a register of the program, `size_bytes` at `offset` from the context
    Flags,   // `condition`, 0 or 1; the top only, and only until the next instruction
  };
  Kind kind = Kind::Constant;
  Condition condition = Condition::Equal;
  uint8_t bits = 64;  // all above these are known to be 0
  uint8_t size_bytes = 8;
  uint8_t pooled = 0;
  int32_t offset = 0;
  size_t cell = 0;
  uint64_t constant = 0;

  static Value of(uint64_t constant);
  static Value saved(int32_t offset, uint8_t size_bytes);
  static Value flags(Condition condition);

  bool is(Kind which) const { return kind == which; }
  bool is_constant(uint64_t value) const { return is(Kind::Constant) && constant == value; }
  /// As the immediate operand of a 64-bit instruction.
  bool is_immediate() const {
    return is(Kind::Constant) && static_cast<uint64_t>(static_cast<int32_t>(constant)) == constant;
  }
};

/// Where code from several sides meets, all values are in their home: the lowest ones in the
/// registers of the pool, in order, the others in their cells.
class Values {
 public:
  explicit Values(Assembler& assembler) : as_(assembler) {}

  size_t height() const { return stack_.size(); }
  Value& from_top(size_t depth) { return stack_[stack_.size() - 1 - depth]; }
  void push(const Value& value) { stack_.push_back(value); }
  /// The value keeps its register until it is released or pushed again.
  Value pop();
  void release(const Value& value);
  void drop() { release(pop()); }

  /// A register of the pool, its content undefined. Moves the lowest value that has one into its
  /// cell when none is free. Leaves the flags as they are, like all moves here.
  Value allocate();
  const Reg64& register_of(const Value& value) const { return kPoolRegisters[value.pooled]; }
  /// Brings the value into a register of its own that may be changed, with nothing to be added.
  const Reg64& own(Value& value);
  void load(const Reg64& to, const Value& value);
  /// A second value like this one.
  Value copy(Value& value);

  /// Calls `emit` with the value as a right-hand operand: immediate, register or memory. May use
  /// rax.
  template <class Emit>
  void with_operand(Value& value, Emit emit) {
    if (value.is_immediate()) return emit(static_cast<uint32_t>(value.constant));
    if (value.is(Value::Kind::Cell)) return emit(as_.cell(value.cell));
    if (value.is(Value::Kind::Saved) && value.size_bytes == 8)
      return emit(as_.qword[reg::rdi + value.offset]);
    if (value.is(Value::Kind::Pooled)) return emit(own(value));
    load(reg::rax, value);
    emit(reg::rax);
  }

  /// Brings a comparison's result out of the flags.
  void settle_flags();
  void bring_home();
  /// From here on, `height` values are at home, and nothing else is known of them.
  void assume_home(size_t height);
  /// Leaves no register of the pool in use.
  void spill();
  /// Brings the uppermost `count` values into their cells.
  void into_cells(size_t count);

 private:
  void store(size_t index);
  void move_pooled_home(size_t index);

  Assembler& as_;
  std::vector<Value> stack_;
  unsigned used_ = 0;  // bit n: kPoolRegisters[n] has an owner
};

}  // namespace tracewell::axjit
