// Sums, products, bits, shifts, divisions. What they compute is said in ax/arithmetic.h, which also
// computes what is known while code is emitted.
#include "ax/arithmetic.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "axjit/emitter.h"

namespace tracewell::axjit {

using ax::Opcode;
using Kind = Value::Kind;

/// Both operands are known: their result is pushed, and nothing emitted.
bool Emitter::folded(Fold fold) {
  const Value& a = values_.from_top(1);
  const Value& b = values_.from_top(0);
  if (!a.is(Kind::Constant) || !b.is(Kind::Constant)) return false;
  const uint64_t result = fold(a.constant, b.constant);
  values_.drop();
  values_.drop();
  values_.push(Value::of(result));
  return true;
}

/// A small constant is only noted: a load or a further sum may take it along.
void Emitter::add_constant(Value& value, uint64_t constant) {
  if (!value.is(Kind::Pooled)) values_.own(value);
  const uint64_t sum = static_cast<uint64_t>(int64_t{value.offset}) + constant;
  if (Value::of(sum).is_immediate()) {
    value.offset = static_cast<int32_t>(sum);
  } else {
    const Reg64& to = values_.own(value);
    as_.mov(reg::rax, constant);
    as_.add(to, reg::rax);
  }
  value.bits = 64;
}

void Emitter::do_add() {
  if (folded([](uint64_t a, uint64_t b) { return a + b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (!b.is(Kind::Constant) && (a.is(Kind::Constant) || !a.is(Kind::Pooled))) std::swap(a, b);
  if (b.is(Kind::Constant)) {
    add_constant(a, b.constant);
  } else {
    const Reg64& to = values_.own(a);
    values_.with_operand(b, [&](const auto& operand) { as_.add(to, operand); });
    a.bits = 64;
  }
  values_.release(b);
  values_.push(a);
}

void Emitter::do_sub() {
  if (folded([](uint64_t a, uint64_t b) { return a - b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (b.is(Kind::Constant)) {
    add_constant(a, 0 - b.constant);
  } else {
    const Reg64& to = values_.own(a);
    values_.with_operand(b, [&](const auto& operand) { as_.sub(to, operand); });
    a.bits = 64;
  }
  values_.release(b);
  values_.push(a);
}

void Emitter::do_mul() {
  if (folded([](uint64_t a, uint64_t b) { return a * b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Constant)) std::swap(a, b);
  const Reg64& to = values_.own(a);
  values_.with_operand(b, [&](const auto& operand) {
    if constexpr (std::is_same_v<std::decay_t<decltype(operand)>, uint32_t>)
      as_.imul(to, to, static_cast<int>(operand));
    else
      as_.imul(to, operand);
  });
  a.bits = 64;
  values_.release(b);
  values_.push(a);
}

void Emitter::do_bit_and() {
  if (folded([](uint64_t a, uint64_t b) { return a & b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Constant)) std::swap(a, b);
  const Reg64& to = values_.own(a);
  values_.with_operand(b, [&](const auto& operand) { as_.and_(to, operand); });
  a.bits = std::min(a.bits, b.bits);
  values_.release(b);
  values_.push(a);
}

void Emitter::do_bit_or() {
  if (folded([](uint64_t a, uint64_t b) { return a | b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Constant)) std::swap(a, b);
  const Reg64& to = values_.own(a);
  values_.with_operand(b, [&](const auto& operand) { as_.or_(to, operand); });
  a.bits = std::max(a.bits, b.bits);
  values_.release(b);
  values_.push(a);
}

void Emitter::do_bit_xor() {
  if (folded([](uint64_t a, uint64_t b) { return a ^ b; })) return;
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Constant)) std::swap(a, b);
  const Reg64& to = values_.own(a);
  values_.with_operand(b, [&](const auto& operand) { as_.xor_(to, operand); });
  a.bits = std::max(a.bits, b.bits);
  values_.release(b);
  values_.push(a);
}

void Emitter::shift_by(const Reg64& value, uint64_t count, Opcode opcode) {
  if (opcode == Opcode::op_rsh_signed) {
    as_.sar(value, static_cast<int>(std::min<uint64_t>(count, 63)));
  } else if (count >= 64) {
    as_.xor_(value.cvt32(), value.cvt32());
  } else if (opcode == Opcode::op_lsh) {
    as_.shl(value, static_cast<int>(count));
  } else {
    as_.shr(value, static_cast<int>(count));
  }
}

// The machine takes counts modulo 64. From 64 up, signed shifts count 63, and the result of the
// others is masked by what the comparison's borrow says.
void Emitter::shift(Fold fold, Opcode opcode) {
  if (folded(fold)) return;
  Value b = values_.pop(), a = values_.pop();
  const Reg64& to = values_.own(a);
  if (b.is(Kind::Constant)) {
    shift_by(to, b.constant, opcode);
  } else {
    values_.load(reg::rcx, b);
    if (opcode == Opcode::op_rsh_signed) {
      as_.mov(reg::eax, 63);
      as_.cmp(reg::rcx, reg::rax);
      as_.cmova(reg::rcx, reg::rax);
      as_.sar(to, reg::cl);
    } else {
      if (opcode == Opcode::op_lsh)
        as_.shl(to, reg::cl);
      else
        as_.shr(to, reg::cl);
      as_.cmp(reg::rcx, 64);
      as_.sbb(reg::rax, reg::rax);
      as_.and_(to, reg::rax);
    }
  }
  a.bits = opcode == Opcode::op_rsh_unsigned ? a.bits : 64;
  values_.release(b);
  values_.push(a);
}

void Emitter::do_lsh() {
  shift(ax::shift_left, Opcode::op_lsh);
}
void Emitter::do_rsh_signed() {
  shift(ax::shift_right_signed, Opcode::op_rsh_signed);
}
void Emitter::do_rsh_unsigned() {
  shift(ax::shift_right, Opcode::op_rsh_unsigned);
}

// By -1 without the machine's division, which raises an exception at the one quotient that does not
// fit.
void Emitter::divide(Fold fold, bool is_signed, bool remainder) {
  if (values_.from_top(0).is_constant(0)) return always(ax::Fault::DivideByZero);
  if (folded(fold)) return;
  const bool known = values_.from_top(0).is(Kind::Constant);
  const bool may_be_minus_one = is_signed && (!known || ~values_.from_top(0).constant == 0);
  Value b = values_.pop(), a = values_.pop();
  const Reg64& to = values_.own(a);
  values_.load(reg::rcx, b);
  if (!known) {
    as_.test(reg::rcx, reg::rcx);
    as_.jz(on_fault(ax::Fault::DivideByZero));
  }
  Xbyak::Label divided, minus_one;
  if (may_be_minus_one) {
    as_.cmp(reg::rcx, static_cast<uint32_t>(-1));
    as_.je(minus_one);
  }
  as_.mov(reg::rax, to);
  if (is_signed) {
    as_.cqo();
    as_.idiv(reg::rcx);
  } else {
    as_.xor_(reg::edx, reg::edx);
    as_.div(reg::rcx);
  }
  as_.mov(to, remainder ? reg::rdx : reg::rax);
  if (may_be_minus_one) {
    as_.jmp(divided);
    as_.L(minus_one);
    if (remainder)
      as_.xor_(to.cvt32(), to.cvt32());
    else
      as_.neg(to);
    as_.L(divided);
  }
  a.bits = 64;
  values_.release(b);
  values_.push(a);
}

void Emitter::do_div_signed() {
  divide(ax::divide_signed, true, false);
}
void Emitter::do_rem_signed() {
  divide(ax::remainder_signed, true, true);
}
void Emitter::do_div_unsigned() {
  divide([](uint64_t a, uint64_t b) { return a / b; }, false, false);
}
void Emitter::do_rem_unsigned() {
  divide([](uint64_t a, uint64_t b) { return a % b; }, false, true);
}

}  // namespace tracewell::axjit
