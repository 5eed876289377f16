// Emission: the bytes of a pad, and what its addresses stand for.
//
// A pad is, for each of its instructions in order: the slots of the sites there (bytes of the
// caller, entered at their start and left at their end with everything as it was found), then the
// copy. The last copy ends in a jump back. A slot stands at a multiple of kSlotAlignment, behind a
// nop if need be: programs may want alignment to be checked (EFLAGS.AC), and slots have pointers.
//
// Nothing of a copy is ever a return address; the program finds its own there. Who looks at a
// thread inside a pad (a signal, a profiler, a debugger) is told where the program would be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "pads/code.h"
#include "pads/plan.h"

namespace tracewell::pads {

inline constexpr uint32_t kSlotAlignment = 8;

struct Slot {
  uint64_t site = 0;
  Bytes bytes;
};

/// What a place in a pad stands for, up to the next point. Inside a slot: for the instruction ahead
/// of which it is (the registers are the slot's own meanwhile). Elsewhere it is exact at `offset`,
/// the only place in the copy where a thread can be.
struct PadPoint {
  uint32_t offset = 0;
  uint64_t pc = 0;
  uint8_t sp_undo = 0;  // the program's stack pointer is so much higher
  bool slot = false;
  bool done = false;    // behind the instruction: pc is where it led
  uint64_t site = 0;    // slot: whose
};

struct Pad {
  uint64_t address = 0;
  std::vector<uint8_t> code;
  std::vector<PadPoint> points;  // by ascending offset, the first at 0

  /// The point at or before the address; nullptr when that is outside of the pad.
  const PadPoint* find(uint64_t address) const;
  /// Where a thread goes on that comes to the instruction at `pc`, such as one that ran into a
  /// guard: its slots, then its copy. nullopt when it is not in this pad.
  std::optional<uint64_t> entry_of(uint64_t pc) const;
  /// Where one goes on that has been through its slots, such as one in a pad that is made anew.
  std::optional<uint64_t> copy_of(uint64_t pc) const;
};

/// The pad of `plan.jumps[number]`. Slots of sites that are not in it are ignored; a site's own is
/// in the first. Unsupported when it does not get by with `pad_bytes`, or with the pad's address.
Result<Pad> emit(const Code& code, const Plan& plan, size_t number, std::span<const Slot> slots);

}  // namespace tracewell::pads
