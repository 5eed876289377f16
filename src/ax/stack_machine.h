// The part of the interpreter that knows no host: the stack, and the opcodes that touch nothing
// else. It checks nothing; the interpreter has looked at operands and heights before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ax/arithmetic.h"
#include "ax/decode.h"
#include "ax/fault.h"
#include "ax/verify.h"

namespace tracewell::ax {

class StackMachine {
 protected:
  uint64_t& top() { return stack_[height_ - 1]; }
  uint64_t take() { return stack_[--height_]; }
  Fault put(uint64_t value) {
    stack_[height_++] = value;
    return Fault::None;
  }
  Fault replace(uint64_t value) {
    top() = value;
    return Fault::None;
  }

#define TRACEWELL_AX_BINARY(name, result) \
  Fault do_##name() {                     \
    const uint64_t b = take();            \
    const uint64_t a = top();             \
    return replace(result);               \
  }
  TRACEWELL_AX_BINARY(add, a + b)
  TRACEWELL_AX_BINARY(sub, a - b)
  TRACEWELL_AX_BINARY(mul, a* b)
  TRACEWELL_AX_BINARY(lsh, shift_left(a, b))
  TRACEWELL_AX_BINARY(rsh_signed, shift_right_signed(a, b))
  TRACEWELL_AX_BINARY(rsh_unsigned, shift_right(a, b))
  TRACEWELL_AX_BINARY(bit_and, a& b)
  TRACEWELL_AX_BINARY(bit_or, a | b)
  TRACEWELL_AX_BINARY(bit_xor, a ^ b)
  TRACEWELL_AX_BINARY(equal, a == b)
  TRACEWELL_AX_BINARY(less_signed, static_cast<int64_t>(a) < static_cast<int64_t>(b))
  TRACEWELL_AX_BINARY(less_unsigned, a < b)
#undef TRACEWELL_AX_BINARY

  template <class Divide>
  Fault division(Divide divide) {
    const uint64_t b = take();
    if (b == 0) return Fault::DivideByZero;
    return replace(divide(top(), b));
  }
  Fault do_div_signed() {
    return division(divide_signed);
  }
  Fault do_rem_signed() {
    return division(remainder_signed);
  }
  Fault do_div_unsigned() {
    return division([](uint64_t a, uint64_t b) { return a / b; });
  }
  Fault do_rem_unsigned() {
    return division([](uint64_t a, uint64_t b) { return a % b; });
  }

  Fault do_log_not() {
    return replace(top() == 0);
  }
  Fault do_bit_not() {
    return replace(~top());
  }
  Fault do_ext() {
    return replace(sign_extend(top(), at_.operand));
  }
  Fault do_zero_ext() {
    return replace(zero_extend(top(), at_.operand));
  }

  Fault do_const8() {
    return put(at_.operand);
  }
  Fault do_const16() {
    return put(at_.operand);
  }
  Fault do_const32() {
    return put(at_.operand);
  }
  Fault do_const64() {
    return put(at_.operand);
  }
  Fault do_dup() {
    return put(top());
  }
  Fault do_pick() {
    return put(stack_[height_ - 1 - at_.operand]);
  }
  Fault do_pop() {
    take();
    return Fault::None;
  }
  Fault do_swap() {
    const uint64_t b = take();
    const uint64_t a = take();
    put(b);
    return put(a);
  }
  Fault do_rot() {
    const uint64_t c = take();
    const uint64_t b = take();
    const uint64_t a = take();
    put(c);
    put(a);
    return put(b);
  }

  Instruction at_;  // the one that is being done
  size_t height_ = 0;

 private:
  uint64_t stack_[kStackSlots];
};

}  // namespace tracewell::ax
