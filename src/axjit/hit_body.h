// The code that a pad calls at a hit: it keeps what the program has in its registers, asks the
// condition, and only where that holds calls the collector. ax/hit.h says what they agree on.
//
// A pad's slot calls it with the stack pointer moved below the red zone, by kRedZone bytes; it puts
// that back as it returns, with all registers and flags as they were. In front of a condition
// only those registers are saved that the condition reads or changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ax/decode.h"
#include "ax/hit.h"
#include "axjit/compile.h"
#include "base/result.h"

namespace tracewell::axjit {

inline constexpr int32_t kRedZone = 128;  // x86-64 psABI 3.2.2

/// General registers as instructions number them, and the two that they do not.
inline constexpr uint32_t kRip = 16, kEflags = 17;
/// Where a hit has it: 0 to 15, kRip or kEflags. `number` is by the target description.
RegisterPlace place_in_hit(uint32_t number, uint32_t which);

/// Addresses in the traced process.
struct HitAddresses {
  uint64_t collect = 0;    // of the collector
  uint64_t calls = 0;      // tracewell_native_calls
  uint64_t plan = 0;       // tracewell_hit_plan
  uint64_t variables = 0;  // cells
  uint64_t reader = 0;     // tracewell_area.reader; 0 = there is always one
  /// tracewell_geometry.reads, and tracewell_ranges, where hits may load by those; needs a reader.
  /// 0 = what is not read directly is the collector's.
  uint64_t reads = 0, ranges = 0;
};

struct HitSpec {
  uint64_t pc = 0;                      // of the program, where the tracepoint is
  bool all_registers = true;            // the collector needs them; false: expressions may
  ax::Code condition;                   // size() == 0: it always holds
  std::span<const ax::Code> collected;  // expressions among what is collected
  std::span<const tracewell_step> memory;  // where nothing but this memory is collected
  HitAddresses addresses;
  std::span<const RegisterPlace> registers;  // place_in_hit(); those not here are register errors
  std::span<const VariablePlace> variables;
  MemoryReads memory_reads = MemoryReads::Direct;
};

struct HitBody {
  std::vector<uint8_t> code;         // its entry is its first byte; anywhere, best at 16 bytes
  std::vector<FaultingLoad> loads;   // ascending
  std::vector<uint32_t> collected;   // offsets of the expressions' code, for tracewell_step.value
  uint32_t fill = 0;  // offset of the code for tracewell_hit_plan.fill; 0 = none
  uint32_t stack_bytes = 0;          // below the program's stack pointer; not what collect() uses
};

/// Errors: those of compile(). The addresses have no influence on lengths and offsets.
Result<HitBody> make_hit_body(const HitSpec& spec);

/// What the pad has in its slot, which stands at a multiple of 8, as its pointer to the body then
/// does: it calls that.
inline constexpr uint32_t kHitSlotBytes = 24;
std::array<uint8_t, kHitSlotBytes> hit_slot(uint64_t body);

}  // namespace tracewell::axjit
