// Comparisons, extensions, and what only moves values about on the evaluation stack.
#include <algorithm>
#include <utility>

#include "ax/arithmetic.h"
#include "axjit/emitter.h"

namespace tracewell::axjit {

using Kind = Value::Kind;

namespace {

/// The condition for `b ? a` in place of `a ? b`.
Condition mirrored(Condition condition) {
  if (condition == Condition::Less) return Condition::Greater;
  if (condition == Condition::Below) return Condition::Above;
  return condition;
}

}  // namespace

void Emitter::compare(Condition condition, Fold fold) {
  if (folded(fold)) return;
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Constant)) {
    std::swap(a, b);
    condition = mirrored(condition);
  }
  const Reg64& left = values_.own(a);
  values_.with_operand(b, [&](const auto& operand) { as_.cmp(left, operand); });
  values_.release(a);
  values_.release(b);
  values_.push(Value::flags(condition));
}

void Emitter::do_equal() {
  compare(Condition::Equal, [](uint64_t a, uint64_t b) { return uint64_t{a == b}; });
}
void Emitter::do_less_signed() {
  compare(Condition::Less, [](uint64_t a, uint64_t b) {
    return uint64_t{static_cast<int64_t>(a) < static_cast<int64_t>(b)};
  });
}
void Emitter::do_less_unsigned() {
  compare(Condition::Below, [](uint64_t a, uint64_t b) { return uint64_t{a < b}; });
}

/// Takes the top, which is no constant, off the stack: the condition that it is not 0.
Condition Emitter::test_top() {
  Value value = values_.pop();
  if (value.is(Kind::Flags)) return value.condition;
  const Reg64& it = values_.own(value);
  as_.test(it, it);
  values_.release(value);
  return Condition::NotEqual;
}

void Emitter::do_log_not() {
  if (values_.from_top(0).is(Kind::Constant)) {
    const bool zero = values_.pop().constant == 0;
    return values_.push(Value::of(zero));
  }
  values_.push(Value::flags(opposite(test_top())));
}

void Emitter::do_bit_not() {
  Value& top = values_.from_top(0);
  if (top.is(Kind::Constant)) {
    top = Value::of(~top.constant);
    return;
  }
  as_.not_(values_.own(top));
  top.bits = 64;
}

void Emitter::do_ext() {
  Value& top = values_.from_top(0);
  const auto bits = static_cast<int>(at_.operand);
  if (bits >= 64 || (bits > top.bits && !top.is(Kind::Constant))) return;
  if (top.is(Kind::Constant) || bits == 0) {
    const uint64_t value = ax::sign_extend(top.constant, at_.operand);
    values_.drop();
    return values_.push(Value::of(value));
  }
  values_.settle_flags();
  const Reg64& it = values_.own(top);
  if (bits == 8) {
    as_.movsx(it, it.cvt8());
  } else if (bits == 16) {
    as_.movsx(it, it.cvt16());
  } else if (bits == 32) {
    as_.movsxd(it, it.cvt32());
  } else {
    as_.shl(it, 64 - bits);
    as_.sar(it, 64 - bits);
  }
  top.bits = 64;
}

void Emitter::do_zero_ext() {
  Value& top = values_.from_top(0);
  const auto bits = static_cast<int>(at_.operand);
  if (bits >= top.bits) return;
  if (top.is(Kind::Constant) || bits == 0) {
    const uint64_t value = ax::zero_extend(top.constant, at_.operand);
    values_.drop();
    return values_.push(Value::of(value));
  }
  const Reg64& it = values_.own(top);
  if (bits == 8) {
    as_.movzx(it.cvt32(), it.cvt8());
  } else if (bits == 16) {
    as_.movzx(it.cvt32(), it.cvt16());
  } else if (bits == 32) {
    as_.mov(it.cvt32(), it.cvt32());
  } else if (bits < 32) {
    as_.and_(it.cvt32(), (1u << bits) - 1);
  } else {
    as_.shl(it, 64 - bits);
    as_.shr(it, 64 - bits);
  }
  top.bits = static_cast<uint8_t>(bits);
}

void Emitter::do_dup() {
  values_.push(values_.copy(values_.from_top(0)));
}

void Emitter::do_pick() {
  values_.push(values_.copy(values_.from_top(at_.operand)));
}

// A value in its cell is there as this one of the stack; to become another it needs a register.
void Emitter::do_swap() {
  Value b = values_.pop(), a = values_.pop();
  if (a.is(Kind::Cell)) values_.own(a);
  if (b.is(Kind::Cell)) values_.own(b);
  values_.push(b);
  values_.push(a);
}

void Emitter::do_rot() {
  Value c = values_.pop(), b = values_.pop(), a = values_.pop();
  for (Value* value : {&a, &b, &c})
    if (value->is(Kind::Cell)) values_.own(*value);
  values_.push(c);
  values_.push(a);
  values_.push(b);
}

}  // namespace tracewell::axjit
