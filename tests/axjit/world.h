// What surrounds an expression in these tests: registers, variables, memory of which parts are
// missing, and a list of what was asked for. The interpreter and native code each get one of their
// own that is like the other's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ax/native.h"
#include "axjit/compile.h"
#include "base/endian.h"

namespace tracewell::axjit {

/// Pages in the middle of a large piece of address space that holds nothing else. Every fifth one
/// cannot be read.
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// First and last bytes of pages, and some in between.
  std::span<const uint64_t> addresses() const { return addresses_; }
  /// How many of the bytes from `address` can be read, `size` at most. `stray` is set when some can
  /// that are not the arena's: what they hold is not for sure.
  size_t readable(uint64_t address, size_t size, bool& stray) const;

 private:
  uint8_t* space_ = nullptr;
  std::vector<uint64_t> addresses_;
};

struct Event {
  enum class Kind : uint8_t { Memory, String, Variable, Print };
  Kind kind{};
  uint64_t a = 0, b = 0, c = 0;

  bool operator==(const Event&) const = default;
};

/// Numbers 0 to 7 are registers of several sizes, 0 to 3 hold addresses; 8 lies before the context.
/// Variables 1 to 4 are cells, 5 is a clock, 6 is a cell that cannot be recorded.
struct World {
  static constexpr uint32_t kClock = 5, kSecret = 6;

  const Arena* arena = nullptr;
  uint64_t before[2] = {};
  tracewell_native_context context{};
  uint64_t saved[8] = {};
  uint64_t cells[8] = {};
  uint64_t ticks = 0;
  uint64_t asked = 0;  // calls that may fail, so far
  uint64_t fails_at = UINT64_MAX;
  uint64_t fault_address = 0;  // of the interpreter
  bool stray = false;
  std::vector<Event> events;

  static std::vector<RegisterPlace> registers();
  static std::vector<VariablePlace> variables();
  /// Points the context at this world.
  void connect();

  bool may();
  bool trace_memory(uint64_t address, uint64_t size);
  bool trace_string(uint64_t address, uint64_t max);
  bool trace_variable(uint64_t number, uint64_t value);
  uint64_t tick() { return ++ticks * 0x1234567; }
  bool read(uint64_t address, void* to, size_t size);
  bool print(uint64_t function, uint64_t channel, const char* format,
             std::span<const uint64_t> arguments);
};

/// The interpreter's host; see ax/interpret.h.
struct WorldHost {
  World& world;

  Endian endian() const { return Endian::Little; }
  bool read_register(unsigned number, uint64_t& value) const;
  bool read_memory(uint64_t address, void* to, size_t size) {
    return world.read(address, to, size);
  }
  uint64_t get_variable(unsigned number);
  void set_variable(unsigned number, uint64_t value);
  bool trace_memory(uint64_t address, uint64_t size) { return world.trace_memory(address, size); }
  bool trace_string(uint64_t address, uint64_t max) { return world.trace_string(address, max); }
  bool trace_variable(unsigned number);
  bool print(uint64_t function, uint64_t channel, const char* format,
             std::span<const uint64_t> arguments) {
    return world.print(function, channel, format, arguments);
  }
};

}  // namespace tracewell::axjit
