// A step by value: what answers say of it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/event.h"

namespace tracewell::trace {

struct StepAt {
  uint64_t seq = 0;
  uint64_t tid = 0;  // 0 = not known
  uint64_t pc = 0;
  std::vector<uint8_t> opcode;
};
/// `event` is a step.
StepAt step_at(const Event& event);

}  // namespace tracewell::trace
