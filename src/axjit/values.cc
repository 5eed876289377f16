#include "axjit/values.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tracewell::axjit {

using Kind = Value::Kind;

Value Value::of(uint64_t constant) {
  Value value;
  value.constant = constant;
  value.bits = static_cast<uint8_t>(std::bit_width(constant));
  return value;
}

Value Value::saved(int32_t offset, uint8_t size_bytes) {
  Value value;
  value.kind = Kind::Saved;
  value.offset = offset;
  value.size_bytes = size_bytes;
  value.bits = static_cast<uint8_t>(8 * size_bytes);
  return value;
}

Value Value::flags(Condition condition) {
  Value value;
  value.kind = Kind::Flags;
  value.condition = condition;
  value.bits = 1;
  return value;
}

Value Values::pop() {
  const Value value = stack_.back();
  stack_.pop_back();
  return value;
}

void Values::release(const Value& value) {
  if (value.is(Kind::Pooled)) used_ &= ~(1u << value.pooled);
}

Value Values::allocate() {
  if (used_ == (1u << kPool) - 1) {
    const auto lowest =
        std::ranges::find_if(stack_, [](const Value& value) { return value.is(Kind::Pooled); });
    TW_CHECK(lowest != stack_.end());  // at most three values are off the stack at a time
    store(static_cast<size_t>(lowest - stack_.begin()));
  }
  Value value;
  value.kind = Kind::Pooled;
  value.pooled = static_cast<uint8_t>(std::countr_one(used_));
  used_ |= 1u << value.pooled;
  as_.clobber(register_of(value));
  return value;
}

const Reg64& Values::own(Value& value) {
  if (!value.is(Kind::Pooled)) {
    Value moved = allocate();
    moved.bits = value.bits;
    load(register_of(moved), value);
    value = moved;
  }
  const Reg64& mine = register_of(value);
  if (value.offset != 0) as_.lea(mine, as_.ptr[mine + value.offset]);
  value.offset = 0;
  return mine;
}

void Values::load(const Reg64& to, const Value& value) {
  as_.clobber(to);
  switch (value.kind) {
    case Kind::Constant:
      as_.mov(to, value.constant);
      break;
    case Kind::Pooled:
      if (value.offset != 0)
        as_.lea(to, as_.ptr[register_of(value) + value.offset]);
      else if (to != register_of(value))
        as_.mov(to, register_of(value));
      break;
    case Kind::Cell:
      as_.mov(to, as_.cell(value.cell));
      break;
    case Kind::Saved:
      as_.load_sized(to, reg::rdi + value.offset, value.size_bytes);
      break;
    case Kind::Flags:
      as_.set_if(value.condition, to);
      break;
  }
}

// Allocating may move the value into its cell; its register then still holds it, or its copy does.
Value Values::copy(Value& value) {
  if (value.is(Kind::Constant) || value.is(Kind::Saved)) return value;
  if (value.is(Kind::Pooled)) own(value);
  const Value from = value;
  Value second = allocate();
  second.bits = from.bits;
  load(register_of(second), from);
  return second;
}

void Values::store(size_t index) {
  Value& value = stack_[index];
  TW_CHECK(!value.is(Kind::Flags));
  if (value.is(Kind::Cell)) return;
  if (value.is_immediate()) {
    as_.mov(as_.cell(index), value.constant);
  } else if (value.is(Kind::Pooled)) {
    as_.mov(as_.cell(index), own(value));
  } else {
    load(reg::rax, value);
    as_.mov(as_.cell(index), reg::rax);
  }
  release(value);
  value.kind = Kind::Cell;
  value.cell = index;
  value.offset = 0;
}

void Values::settle_flags() {
  if (!stack_.empty() && stack_.back().is(Kind::Flags)) own(stack_.back());
}

void Values::move_pooled_home(size_t index) {
  Value& value = stack_[index];
  const size_t from = value.pooled;
  if (from == index) return;
  const auto owner = std::ranges::find_if(stack_, [&](const Value& other) {
    return other.is(Kind::Pooled) && other.pooled == index;
  });
  as_.clobber(kPoolRegisters[index]);
  if (owner != stack_.end()) {
    as_.xchg(kPoolRegisters[index], kPoolRegisters[from]);
    owner->pooled = static_cast<uint8_t>(from);
  } else {
    as_.mov(kPoolRegisters[index], kPoolRegisters[from]);
    used_ = (used_ & ~(1u << from)) | 1u << index;
  }
  value.pooled = static_cast<uint8_t>(index);
}

// First what frees registers, then registers among themselves, then what needs free ones.
void Values::bring_home() {
  settle_flags();
  const size_t low = std::min(height(), kPool);
  for (size_t i = low; i < height(); ++i) store(i);
  for (size_t i = 0; i < low; ++i)
    if (stack_[i].is(Kind::Pooled)) own(stack_[i]);
  for (size_t i = 0; i < low; ++i)
    if (stack_[i].is(Kind::Pooled)) move_pooled_home(i);
  for (size_t i = 0; i < low; ++i) {
    if (stack_[i].is(Kind::Pooled)) continue;
    load(kPoolRegisters[i], stack_[i]);
    stack_[i].kind = Kind::Pooled;
    stack_[i].pooled = static_cast<uint8_t>(i);
    stack_[i].offset = 0;
    used_ |= 1u << i;
  }
}

void Values::assume_home(size_t height) {
  stack_.assign(height, Value{});
  used_ = (1u << std::min(height, kPool)) - 1;
  for (size_t i = 0; i < height; ++i) {
    stack_[i].kind = i < kPool ? Kind::Pooled : Kind::Cell;
    stack_[i].pooled = static_cast<uint8_t>(i < kPool ? i : 0);
    stack_[i].cell = i;
    if (i < kPool) as_.clobber(kPoolRegisters[i]);
  }
}

void Values::spill() {
  for (size_t i = 0; i < height(); ++i)
    if (stack_[i].is(Kind::Pooled)) store(i);
}

void Values::into_cells(size_t count) {
  for (size_t i = height() - count; i < height(); ++i) store(i);
}

}  // namespace tracewell::axjit
