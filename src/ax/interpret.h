// Runs agent-expression bytecode. Safe on any bytes, verified or not: before each instruction its
// operands, its stack heights and the budget are checked; what it reads and writes elsewhere is
// the host's to allow.
//
// A Host is any type with these members:
//
//   Endian endian()                                            byte order of memory
//   bool read_register(unsigned number, uint64_t& value)       by target description, zero-extended
//   bool read_memory(uint64_t address, void* to, size_t size)  size 1, 2, 4 or 8; all or nothing
//   uint64_t get_variable(unsigned number)                     an unknown one is 0
//   void set_variable(unsigned number, uint64_t value)         an unknown one is ignored
//   bool trace_memory(uint64_t address, uint64_t size)         size > 0, as large as the code says
//   bool trace_string(uint64_t address, uint64_t max)          up to and with a zero byte; max > 0
//   bool trace_variable(unsigned number)                       its value at this moment
//   bool print(uint64_t function, uint64_t channel, const char* format,
//              std::span<const uint64_t> arguments)
//
// False ends the expression: RegisterAccess, MemoryAccess (the memory calls), NotRecorded
// (trace_variable), PrintFailed. A host that has another reason, such as a full buffer, knows it.
// A print format comes from outside: never hand it to printf. It is the text that the user typed,
// escapes (`\n`) still two characters, and nothing has compared it with the arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ax/decode.h"
#include "ax/fault.h"
#include "ax/stack_machine.h"
#include "base/endian.h"

namespace tracewell::ax {

/// Instructions that an expression may run. GDB's have no loops and fewer than 184.
constexpr size_t kBudget = 65536;

struct Outcome {
  Fault fault = Fault::None;
  bool has_value = false;  // no fault, and something was on the stack at the end
  uint64_t value = 0;      // the top of the stack at the end
  size_t offset = 0;       // of the instruction at fault, else of the `end`

  bool ok() const { return fault == Fault::None; }
};

template <class Host>
class Interpreter : private StackMachine {
 public:
  Interpreter(Code code, Host& host) : code_(code), host_(host) {}

  Outcome run(size_t budget) {
    Outcome outcome;
    if (code_.size() == 0) outcome.fault = Fault::EmptyExpression;
    while (outcome.fault == Fault::None && !ended_) {
      outcome.offset = next_;
      outcome.fault = budget-- == 0 ? Fault::BudgetExceeded : step();
    }
    outcome.has_value = outcome.ok() && height_ > 0;
    if (outcome.has_value) outcome.value = top();
    return outcome;
  }

 private:
  /// Does one instruction, once nothing in it can leave the code or the stack.
  Fault step() {
    const Fault fault = decode(code_, next_, at_);
    if (fault != Fault::None) return fault;
    const OpcodeInfo& info = *at_.info;
    if (height_ < at_.needs())
      return info.opcode == Opcode::op_pick ? Fault::BadPick : Fault::StackUnderflow;
    if (height_ - at_.pops() + info.pushes > kStackSlots) return Fault::StackOverflow;
    next_ += at_.size;
    switch (info.opcode) {
#define OPCODE(name, ...) \
  case Opcode::op_##name: \
    return do_##name();
#define FLOAT_OPCODE(name, ...) \
  case Opcode::op_##name:       \
    return Fault::UnhandledOpcode;
#include "ax/opcodes.def"
    }
    return Fault::UnrecognizedOpcode;
  }

  Fault branch() {
    if (at_.operand >= code_.size()) return Fault::BadBranch;
    next_ = at_.operand;
    return Fault::None;
  }
  static Fault when(bool done, Fault otherwise) {
    return done ? Fault::None : otherwise;
  }
  unsigned number() const {
    return static_cast<unsigned>(at_.operand);
  }

  Fault fetch(size_t size) {
    uint8_t raw[8];
    if (!host_.read_memory(top(), raw, size)) return Fault::MemoryAccess;
    return replace(load_uint(raw, size, host_.endian()));
  }
  Fault do_ref8() {
    return fetch(1);
  }
  Fault do_ref16() {
    return fetch(2);
  }
  Fault do_ref32() {
    return fetch(4);
  }
  Fault do_ref64() {
    return fetch(8);
  }
  Fault do_reg() {
    uint64_t value = 0;
    if (!host_.read_register(number(), value)) return Fault::RegisterAccess;
    return put(value);
  }
  Fault do_getv() {
    return put(host_.get_variable(number()));
  }
  Fault do_setv() {
    host_.set_variable(number(), top());
    return Fault::None;
  }

  Fault do_goto() {
    return branch();
  }
  Fault do_if_goto() {
    return take() != 0 ? branch() : Fault::None;
  }
  Fault do_end() {
    ended_ = true;
    return Fault::None;
  }

  Fault record(uint64_t address, uint64_t size) {
    return when(size == 0 || host_.trace_memory(address, size), Fault::MemoryAccess);
  }
  Fault do_trace() {
    const uint64_t size = take();
    return record(take(), size);
  }
  Fault do_trace_quick() {
    return record(top(), at_.operand);
  }
  Fault do_trace16() {
    return record(top(), at_.operand);
  }
  Fault do_tracenz() {
    const uint64_t max = take();
    const uint64_t address = take();
    return when(max == 0 || host_.trace_string(address, max), Fault::MemoryAccess);
  }
  Fault do_tracev() {
    return when(host_.trace_variable(number()), Fault::NotRecorded);
  }

  /// GDB pushes the last argument first, so the first one is the uppermost, under channel and
  /// function. Here they get into the order of the format.
  Fault do_printf() {
    const uint64_t function = take();
    const uint64_t channel = take();
    uint64_t arguments[kStackSlots];
    const size_t count = at_.operand;
    for (size_t i = 0; i < count; ++i) arguments[i] = take();
    return when(
        host_.print(function, channel, at_.text, std::span<const uint64_t>(arguments, count)),
        Fault::PrintFailed);
  }

  Code code_;
  Host& host_;
  size_t next_ = 0;
  bool ended_ = false;
};

/// Runs `code` on `host` for at most `budget` instructions, from an empty stack.
template <class Host>
Outcome run(Code code, Host& host, size_t budget = kBudget) {
  return Interpreter<Host>(code, host).run(budget);
}

}  // namespace tracewell::ax
