// Where an executed instruction can lead by itself. Where its thread goes on elsewhere, something
// ran in between that the trace does not tell: the callee of a call that a debugger stepped over,
// or the kernel, which delivers an exception or a signal. And what it may write that nobody tells.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "machine/control_flow.h"
#include "machine/operands.h"
#include "model/event.h"

namespace tracewell::timeline {

class Successors {
 public:
  /// Anywhere: nobody knows the instruction.
  Successors() = default;
  /// Of a step of a machine whose addresses have `address_bytes` (FlowDecoder::address_bytes()).
  Successors(const machine::FlowInstruction& flow, const Step& step, uint32_t address_bytes) {
    if (flow.flow == machine::Flow::Onward && address_bytes == 8) {  // what most are
      anywhere_ = false;
      places_[0] = step.pc + flow.length;
      places_[1] = flow.repeats ? step.pc : places_[0];
    } else {
      find(flow, step, address_bytes);
    }
  }

  bool contains(uint64_t pc) const {
    if (anywhere_) return !but_ || ((pc ^ *but_) & mask_) != 0;
    return ((pc ^ places_[0]) & mask_) == 0 || ((pc ^ places_[1]) & mask_) == 0;
  }

 private:
  void find(const machine::FlowInstruction& flow, const Step& step, uint32_t address_bytes);

  bool anywhere_ = true;
  std::optional<uint64_t> but_;  // of anywhere: not there
  std::array<uint64_t, 2> places_ = {};
  uint64_t mask_ = UINT64_MAX;
};

/// May an instruction that left out accesses have written more than is told of it? `told`: its
/// accesses; a write whose content is not told is told.
bool may_write_untold(const machine::Instruction& instruction,
                      std::span<const Step::MemoryAccess> told);

}  // namespace tracewell::timeline
