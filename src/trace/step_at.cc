#include "trace/step_at.h"

#include <variant>

namespace tracewell::trace {

StepAt step_at(const Event& event) {
  const Step& step = std::get<Step>(event.body);
  return {event.seq, event.tid, step.pc, {step.opcode.begin(), step.opcode.end()}};
}

}  // namespace tracewell::trace
