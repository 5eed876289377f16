// Registers of the program, its memory, and trace state variables.
#include <algorithm>
#include <cstddef>

#include "ax/native.h"
#include "axjit/emitter.h"

namespace tracewell::axjit {

using ax::Fault;
using Kind = Value::Kind;

namespace {

constexpr int kVariables = offsetof(tracewell_native_context, variables);

}  // namespace

void Emitter::do_reg() {
  const auto place = std::ranges::find(surroundings_.registers, at_.operand,
                                       [](const RegisterPlace& it) { return it.number; });
  if (place == surroundings_.registers.end()) return always(Fault::RegisterAccess);
  values_.push(Value::saved(place->offset, place->size_bytes));
}

void Emitter::fetch(size_t size_bytes) {
  Value address = values_.pop();
  if (surroundings_.memory_reads == MemoryReads::Called)
    load_by_call(address, size_bytes);
  else
    load_directly(address, size_bytes);
  values_.from_top(0).bits = static_cast<uint8_t>(8 * size_bytes);
}

void Emitter::load_directly(Value& address, size_t size_bytes) {
  load_exits_.push_back({{}, reg::rax, 0, size_bytes, at_.offset});
  LoadExit& exit = load_exits_.back();
  if (address.is(Kind::Constant)) {
    as_.mov(reg::rax, address.constant);
    address = values_.allocate();
  } else {
    if (!address.is(Kind::Pooled)) values_.own(address);
    exit.base = values_.register_of(address);
    exit.displacement = address.offset;
  }
  load_offsets_.push_back(static_cast<uint32_t>(as_.getSize()));
  as_.load_sized(values_.register_of(address), exit.base + exit.displacement, size_bytes);
  address.offset = 0;
  values_.push(address);
}

void Emitter::load_by_call(const Value& address, size_t size_bytes) {
  values_.spill();
  values_.load(reg::rsi, address);
  values_.release(address);
  as_.lea(reg::rdx, as_.slot(FrameUse::Loaded));
  as_.mov(reg::ecx, static_cast<uint32_t>(size_bytes));
  call_or(offsetof(tracewell_native_calls, read_memory), Fault::MemoryAccess);
  const Value value = values_.allocate();
  as_.lea(reg::rax, as_.slot(FrameUse::Loaded));
  as_.load_sized(values_.register_of(value), reg::rax + 0, size_bytes);
  values_.push(value);
}

const VariablePlace* Emitter::variable() const {
  const auto place = std::ranges::find(surroundings_.variables, at_.operand,
                                       [](const VariablePlace& it) { return it.number; });
  return place == surroundings_.variables.end() ? nullptr : &*place;
}

void Emitter::do_getv() {
  const VariablePlace* place = variable();
  if (place == nullptr) return values_.push(Value::of(0));
  if (place->kind == VariablePlace::Kind::Computed) {
    get_computed(at_.operand);
    const Value value = values_.allocate();
    as_.mov(values_.register_of(value), reg::rax);
    return values_.push(value);
  }
  const Update* pair = flow_.update_from(at_.offset);
  if (pair != nullptr) {
    values_.bring_home();
    as_.L(again_[at_.offset]);
  }
  const Value value = values_.allocate();
  const Reg64& to = values_.register_of(value);
  as_.mov(to, as_.qword[reg::rdi + kVariables]);
  as_.mov(to, as_.qword[to + static_cast<int>(place->offset)]);
  if (pair != nullptr) as_.mov(as_.slot(FrameUse::Expected), to);
  values_.push(value);
}

// Cells are aligned, so that each of these stores is whole.
void Emitter::do_setv() {
  const VariablePlace* place = variable();
  if (place == nullptr || place->kind == VariablePlace::Kind::Computed) return;
  const Update* pair = flow_.update_to(at_.offset);
  if (pair != nullptr) return update(*pair, *place);
  Value& top = values_.from_top(0);
  Reg64 from = reg::rdx;
  if (top.is(Kind::Pooled))
    from = values_.own(top);
  else if (!top.is_immediate())
    values_.load(from, top);
  as_.mov(reg::rax, as_.qword[reg::rdi + kVariables]);
  const Xbyak::Address cell = as_.qword[reg::rax + static_cast<int>(place->offset)];
  if (top.is_immediate())
    as_.mov(cell, top.constant);
  else
    as_.mov(cell, from);
}

// Stores only if the variable still is what the getv found. Else back to the getv, where all values
// below were at home, and are again.
void Emitter::update(const Update& pair, const VariablePlace& place) {
  values_.bring_home();
  Reg64 from = reg::rcx;
  if (values_.from_top(0).is(Kind::Pooled))
    from = values_.register_of(values_.from_top(0));
  else
    values_.load(from, values_.from_top(0));
  as_.mov(reg::rax, as_.slot(FrameUse::Expected));
  as_.mov(reg::rdx, as_.qword[reg::rdi + kVariables]);
  as_.lock();
  as_.cmpxchg(as_.qword[reg::rdx + static_cast<int>(place.offset)], from);
  as_.jne(again_[pair.get]);
}

}  // namespace tracewell::axjit
