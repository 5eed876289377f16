// Variables: trace state variables (`tvariable`) and their values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/catalog.h"
#include "target/sites.h"

namespace tracewell::agent {

/// Builtin are trace_timestamp, the time in Unix microseconds at which it is read (as gdbserver has
/// it, with its number), and two of our own: trace_thread and trace_cpu, the thread that hits and
/// the processor on which it does. A debugger that learned of them sends them back at each start,
/// perhaps with numbers of its own, by which its expressions then call them.
class Variables {
 public:
  enum Builtin : uint8_t { kTimestamp, kThread, kProcessor, kBuiltins };

  Variables() { reset(); }

  /// Only the builtin ones are left.
  void reset();
  /// Defines or defines again; the value becomes the initial one.
  void define(VariableDef definition);
  /// Creates a variable at zero that an expression speaks of and nobody has defined. It has a
  /// value, but no name, and is not listed until it is defined.
  void mention(uint32_t number);

  /// Defined ones, in the order of their definition.
  const std::vector<VariableDef>& definitions() const { return definitions_; }
  /// nullopt = never defined nor mentioned, or it has no value without a hit.
  std::optional<int64_t> value(uint32_t number, int64_t now_us,
                               target::HitContext* hit = nullptr) const;
  /// Ignored for a builtin one, and for one that does not exist.
  void set(uint32_t number, int64_t value);
  /// set() in one step with a look at what it was. False: it was something else by now.
  bool replace(uint32_t number, int64_t expected, int64_t value);

  /// From now on values are in these cells (borrowed), to which others have access too, as far as
  /// there are cells; until come_home().
  void live_in(std::span<uint64_t> cells);
  void come_home();
  bool is_builtin(uint32_t number) const { return builtin(number).has_value(); }
  /// What the builtin ones are called by, for now.
  const std::array<uint32_t, kBuiltins>& builtins() const { return builtins_; }
  /// The number of its cell; nullopt for a builtin one, and where cells have run out.
  std::optional<uint32_t> cell(uint32_t number) const;

 private:
  struct Value {
    uint32_t number = 0;
    int64_t value = 0;
    uint32_t cell = 0;  // in the order in which they came to be
  };
  std::optional<Builtin> builtin(uint32_t number) const;
  void rename(Builtin which, uint32_t number);
  Value* find(uint32_t number);
  const Value* find(uint32_t number) const { return const_cast<Variables*>(this)->find(number); }
  int64_t load(const Value& value) const;
  void store(Value& value, int64_t to);

  std::array<uint32_t, kBuiltins> builtins_{};
  std::vector<VariableDef> definitions_;
  std::vector<Value> values_;  // by number
  std::span<uint64_t> cells_;
};

}  // namespace tracewell::agent
