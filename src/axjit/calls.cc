// What an expression has its surroundings do. Arguments go where the ABI wants them: rdi is the
// context already, and what the callee may change holds no values by then.
#include <cstddef>

#include "ax/native.h"
#include "axjit/emitter.h"

namespace tracewell::axjit {

using ax::Fault;
using Kind = Value::Kind;

namespace {

constexpr size_t kTraceMemory = offsetof(tracewell_native_calls, trace_memory);
constexpr size_t kTraceString = offsetof(tracewell_native_calls, trace_string);
constexpr size_t kTraceVariable = offsetof(tracewell_native_calls, trace_variable);
constexpr size_t kGetVariable = offsetof(tracewell_native_calls, get_variable);
constexpr size_t kPrint = offsetof(tracewell_native_calls, print);

}  // namespace

void Emitter::call(size_t entry) {
  as_.mov(as_.slot(FrameUse::Context), reg::rdi);
  as_.mov(reg::rax, as_.qword[reg::rdi + offsetof(tracewell_native_context, calls)]);
  as_.call(as_.qword[reg::rax + entry]);
  as_.mov(reg::rdi, as_.slot(FrameUse::Context));
  as_.clobber(reg::rcx);
  for (const Reg64& changed : kPoolRegisters) as_.clobber(changed);
  calls_ = true;
}

void Emitter::call_or(size_t entry, Fault fault) {
  call(entry);
  as_.test(reg::eax, reg::eax);
  as_.jz(on_fault(fault));
}

/// Into rax.
void Emitter::get_computed(uint64_t number) {
  values_.spill();
  as_.mov(reg::esi, static_cast<uint32_t>(number));
  call(kGetVariable);
}

/// Address and size from the stack. A size that is only known when it runs may be 0.
void Emitter::record(size_t entry) {
  const Value size = values_.pop(), address = values_.pop();
  values_.release(size);
  values_.release(address);
  if (size.is_constant(0)) return;
  values_.spill();
  values_.load(reg::rdx, size);  // first: it may be in rsi
  values_.load(reg::rsi, address);
  Xbyak::Label nothing;
  if (!size.is(Kind::Constant)) {
    as_.test(reg::rdx, reg::rdx);
    as_.jz(nothing);
  }
  call_or(entry, Fault::MemoryAccess);
  as_.L(nothing);
}

void Emitter::do_trace() {
  record(kTraceMemory);
}

void Emitter::do_tracenz() {
  record(kTraceString);
}

void Emitter::record_at_top(uint64_t size) {
  if (size == 0) return;
  values_.spill();
  values_.load(reg::rsi, values_.from_top(0));
  as_.mov(reg::edx, static_cast<uint32_t>(size));
  call_or(kTraceMemory, Fault::MemoryAccess);
}

void Emitter::do_tracev() {
  const VariablePlace* place = variable();
  if (place == nullptr) return always(Fault::NotRecorded);
  if (place->kind == VariablePlace::Kind::Computed) {
    get_computed(at_.operand);
    as_.mov(reg::rdx, reg::rax);
  } else {
    values_.spill();
    as_.mov(reg::rdx, as_.qword[reg::rdi + offsetof(tracewell_native_context, variables)]);
    as_.mov(reg::rdx, as_.qword[reg::rdx + static_cast<int>(place->offset)]);
  }
  as_.mov(reg::esi, static_cast<uint32_t>(at_.operand));
  call_or(kTraceVariable, Fault::NotRecorded);
}

void Emitter::do_printf() {
  const Value function = values_.pop(), channel = values_.pop();
  values_.release(function);
  values_.release(channel);
  values_.spill();
  const size_t count = at_.operand;
  values_.into_cells(count);
  values_.load(reg::rdx, channel);  // first: it may be in rsi
  values_.load(reg::rsi, function);
  as_.lea(reg::rcx, as_.ptr[reg::rip + texts_[{at_.text, at_.text_size}]]);
  if (count > 0)
    as_.lea(reg::r8, as_.cell(values_.height() - 1));
  else
    as_.xor_(reg::r8d, reg::r8d);
  as_.mov(reg::r9d, static_cast<uint32_t>(count));
  for (size_t i = 0; i < count; ++i) values_.drop();
  call_or(kPrint, Fault::PrintFailed);
}

}  // namespace tracewell::axjit
