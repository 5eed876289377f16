#include "trace/questions/noted.h"

#include "model/capabilities.h"

namespace tracewell::trace {

Result<uint64_t> noted_steps(const OpenSteps& trace, const std::vector<Note>& notes,
                             std::optional<uint64_t> wanted,
                             const std::function<bool(const NotedStep&)>& visit) {
  uint64_t count = 0;
  for (const Note& note : notes) {
    if (wanted && note.step != *wanted) continue;
    ++count;
    StepIndex::Moment moment;
    const bool there = note.step < trace.steps().count();
    if (there) TW_RETURN_IF_ERROR(trace.source->steps()->state_before(note.step, moment));
    if (!visit({note, !there, moment.tid, moment.pc})) break;
  }
  return count;
}

}  // namespace tracewell::trace
