// How far a repeated string instruction got in one step of an x64dbg trace: who steps over it, and
// does not into it, records its first element alone. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/trace64/scan/places.h"
#include "machine/operands.h"

namespace tracewell::formats::trace64 {

// Words of the registers that string instructions count and move with, in either shape.
constexpr uint32_t kCountWord = 1, kSourceWord = 6, kTargetWord = 7;

/// What the next step of a block's thread finds, as far as that is known: where it is, and what a
/// string instruction has counted and moved.
struct Behind {
  std::optional<uint64_t> pc, count, source, target;
};

/// As `next` lists it, the thread's next block, or as it was in `before`, the block's own state.
/// `strings`: fills in all of it, and not `pc` alone.
Behind look_behind(const Shape& shape, const WordState& before, const Block& next, bool strings);

/// What the instruction did in one step.
struct StringRun {
  uint64_t elements = 0;
  bool down = false;  // from the first element on, addresses become smaller
};

/// nullopt: it is not known, or the registers contradict each other. `repeated` is an instruction
/// that repeats and has an operand in memory.
std::optional<StringRun> find_string_run(const Shape& shape, const machine::Instruction& repeated,
                                         const WordState& before, const Behind& behind);

/// Is the operand one that the instruction moves along?
bool moves_along(const machine::MemoryOperand& operand);

}  // namespace tracewell::formats::trace64
