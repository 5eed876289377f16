// A second evaluator, as plain as can be: its own arithmetic (128-bit, bit by bit), a vector that
// throws for a stack. It shares only the test host and the names of the faults with the real one.
#pragma once

#include <cstdint>
#include <vector>

#include "model_reader.h"
#include "recording_host.h"

namespace tracewell::ax::model {

using Int = __int128;

class Evaluator {
 public:
  Evaluator(const std::vector<uint8_t>& code, RecordingHost& host) : code_(code), host_(host) {}

  Outcome run(size_t budget) {
    Outcome outcome;
    try {
      if (code_.empty()) throw Fault::EmptyExpression;
      for (; !done_; --budget) {
        outcome.offset = at_;
        if (budget == 0) throw Fault::BudgetExceeded;
        const Step step = read(code_, at_);
        at_ = step.next;
        if (step.code == 0x01 || (step.code >= 0x1b && step.code <= 0x1f)) refuse_float(step.code);
        if (!compute(step)) act(step);
        if (stack_.size() > 100) throw Fault::StackOverflow;
      }
      outcome.has_value = !stack_.empty();
      if (outcome.has_value) outcome.value = stack_.back();
    } catch (Fault fault) {
      outcome.fault = fault;
    }
    return outcome;
  }

 private:
  [[noreturn]] void refuse_float(unsigned code) {
    if (code != 0x01 && stack_.empty()) throw Fault::StackUnderflow;
    throw Fault::UnhandledOpcode;
  }
  uint64_t pop() {
    if (stack_.empty()) throw Fault::StackUnderflow;
    const uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  void push(Int value) { stack_.push_back(static_cast<uint64_t>(value)); }
  static Int with_sign(uint64_t value) { return static_cast<int64_t>(value); }

  static Int shifted(Int value, uint64_t count, bool left) {
    for (uint64_t i = 0; i < count && i < 64; ++i) {
      const Int half = (value - (value % 2 != 0 ? (value < 0 ? -1 : 1) : 0)) / 2;
      value = left ? Int{static_cast<uint64_t>(value * 2)} : half - (value < 0 && value % 2 != 0);
    }
    return value;
  }
  static uint64_t low_bits(uint64_t value, uint64_t bits, bool repeat) {
    uint64_t result = 0;
    for (uint64_t i = 0; i < 64; ++i) {
      const uint64_t from = i < bits ? i : bits - 1;
      if (i < bits || (repeat && bits > 0)) result |= (value >> from & 1) << i;
    }
    return result;
  }

  Int divided(unsigned code, uint64_t a, uint64_t b) {
    if (b == 0) throw Fault::DivideByZero;
    if (code == 0x05) return with_sign(a) / with_sign(b);
    if (code == 0x06) return a / b;
    return code == 0x07 ? with_sign(a) % with_sign(b) : Int{a % b};
  }
  Int binary(unsigned code, uint64_t a, uint64_t b) {
    switch (code) {
      case 0x02: return Int{a} + b;
      case 0x03: return Int{a} - b;
      case 0x04: return static_cast<Int>(static_cast<unsigned __int128>(a) * b);
      case 0x09: return shifted(Int{a}, b, true);
      case 0x0a: return shifted(with_sign(a), b, false);
      case 0x0b: return shifted(Int{a}, b, false);
      case 0x0f: return a & b;
      case 0x10: return a | b;
      case 0x11: return a ^ b;
      case 0x13: return a == b;
      case 0x14: return with_sign(a) < with_sign(b);
      case 0x15: return a < b;
      default: return divided(code, a, b);
    }
  }
  static bool is_binary(unsigned code) {
    return (code >= 0x02 && code <= 0x0b) || (code >= 0x0f && code <= 0x15 && code != 0x12);
  }

  uint64_t fetch(uint64_t address, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      const unsigned index = host_.order == Endian::Big ? i : size - 1 - i;
      if (!host_.memory.contains(address + index)) throw Fault::MemoryAccess;
      value = value * 256 + host_.memory.at(address + index);
    }
    return value;
  }

  /// The opcodes that touch only the stack (and read memory).
  bool compute(const Step& step) {
    const unsigned code = step.code;
    if (is_binary(code)) {
      const uint64_t b = pop();
      push(binary(code, pop(), b));
      return true;
    }
    switch (code) {
      case 0x0e: push(pop() == 0 ? 1 : 0); return true;
      case 0x12: push(-1 - with_sign(pop())); return true;
      case 0x16: push(low_bits(pop(), step.operand, true)); return true;
      case 0x2a: push(low_bits(pop(), step.operand, false)); return true;
      case 0x17: push(fetch(pop(), 1)); return true;
      case 0x18: push(fetch(pop(), 2)); return true;
      case 0x19: push(fetch(pop(), 4)); return true;
      case 0x1a: push(fetch(pop(), 8)); return true;
      case 0x22: case 0x23: case 0x24: case 0x25: push(step.operand); return true;
      case 0x29: pop(); return true;
      case 0x28: push_all({pop()}, {0, 0}); return true;
      case 0x2b: push_all({pop(), pop()}, {0, 1}); return true;
      case 0x33: push_all({pop(), pop(), pop()}, {0, 2, 1}); return true;
      case 0x32:
        if (step.operand >= stack_.size()) throw Fault::BadPick;
        push(stack_.at(stack_.size() - 1 - step.operand));
        return true;
      default: return false;
    }
  }
  /// `taken` is in the order of popping; braces evaluate from left to right.
  void push_all(std::vector<uint64_t> taken, std::vector<size_t> order) {
    for (const size_t which : order) push(taken.at(which));
  }

  /// The opcodes that move or reach outside.
  void act(const Step& step) {
    const auto number = static_cast<unsigned>(step.operand);
    const auto need = [](bool good, Fault fault) { if (!good) throw fault; };
    uint64_t a = 0;
    switch (step.code) {
      case 0x20: if (pop() != 0) go(step.operand); return;
      case 0x21: go(step.operand); return;
      case 0x27: done_ = true; return;
      case 0x26:
        need(stack_.size() < 100, Fault::StackOverflow);
        need(host_.registers.contains(number), Fault::RegisterAccess);
        push(host_.registers.at(number));
        return;
      case 0x2c: push(host_.get_variable(number)); return;
      case 0x2d: push(a = pop()); host_.set_variable(number, a); return;
      case 0x2e: need(host_.trace_variable(number), Fault::NotRecorded); return;
      case 0x0d: case 0x30: push(a = pop()); trace(a, step.operand); return;
      case 0x0c: a = pop(); trace(pop(), a); return;
      case 0x2f:
        a = pop();
        if (const uint64_t from = pop(); a != 0)
          need(host_.trace_string(from, a), Fault::MemoryAccess);
        return;
      default: print(step); return;
    }
  }
  void go(uint64_t target) {
    if (target >= code_.size()) throw Fault::BadBranch;
    at_ = target;
  }
  void trace(uint64_t address, uint64_t size) {
    if (size != 0 && !host_.trace_memory(address, size)) throw Fault::MemoryAccess;
  }
  void print(const Step& step) {
    if (stack_.size() < step.operand + 2) throw Fault::StackUnderflow;
    const uint64_t function = pop(), channel = pop();
    std::vector<uint64_t> arguments;
    while (arguments.size() < step.operand) arguments.push_back(pop());
    if (!host_.print(function, channel, step.text.c_str(), arguments)) throw Fault::PrintFailed;
  }

  const std::vector<uint8_t>& code_;
  RecordingHost& host_;
  std::vector<uint64_t> stack_;
  size_t at_ = 0;
  bool done_ = false;
};

}  // namespace tracewell::ax::model
