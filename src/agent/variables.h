// Variables: trace state variables (`tvariable`) and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.h"

namespace tracewell::agent {

/// Number 1 is builtin: trace_timestamp, the time in Unix microseconds at which it is read.
/// A debugger sends back every variable that it learned from us, so that a definition of number 1
/// arrives at each start; it changes nothing.
class Variables {
 public:
  static constexpr uint32_t kTimestamp = 1;

  Variables() { reset(); }

  /// Only the builtin one is left.
  void reset();
  /// Defines or defines again; the value becomes the initial one.
  void define(VariableDef definition);
  /// Creates a variable at zero that an expression speaks of and nobody has defined. It has a
  /// value, but no name, and is not listed until it is defined.
  void mention(uint32_t number);

  /// Defined ones, in the order of their definition.
  const std::vector<VariableDef>& definitions() const { return definitions_; }
  /// nullopt = never defined nor mentioned.
  std::optional<int64_t> value(uint32_t number, int64_t now_us) const;
  /// Ignored for a builtin one, and for one that does not exist.
  void set(uint32_t number, int64_t value);

 private:
  struct Value {
    uint32_t number = 0;
    int64_t value = 0;
  };
  Value* find(uint32_t number);

  std::vector<VariableDef> definitions_;
  std::vector<Value> values_;  // by number
};

}  // namespace tracewell::agent
