#include "timeline/moment.h"

#include <variant>

namespace tracewell::timeline {
namespace {

Result<RegisterState> state_before(Source& source, uint64_t seq) {
  StepIndex::Moment moment;
  TW_RETURN_IF_ERROR(source.steps()->state_before(seq, moment));
  return std::move(moment.registers);
}

}  // namespace

Result<const Event*> read_step(Source& source, uint64_t seq, Batch& batch) {
  if (seq >= source.steps()->count())
    return {Errc::InvalidArgument, "there is no such step"};
  TW_RETURN_IF_ERROR(source.steps()->seek(seq));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool more, source.next(batch));
    if (!more) return {Errc::Corrupt, "the trace ends before its last step"};
    for (const Event& event : batch.events())
      if (event.seq == seq && std::holds_alternative<Step>(event.body)) return &event;
  }
}

Result<RegisterState> registers_at(Source& source, const Timeline& timeline, uint64_t at,
                                   uint64_t tid) {
  RegisterState nothing;
  nothing.reset(source.catalog().registers);
  if (timeline.steps() == 0 || at > timeline.steps())
    return {Errc::InvalidArgument, "there is no such step"};
  if (at < timeline.steps() && timeline.thread_of(at) == tid) return state_before(source, at);
  const auto [begin, end] = timeline.stretch_of(at);
  const auto last = timeline.last_step_of(tid, at, begin);
  if (!last) return nothing;
  Batch batch;
  TW_ASSIGN_OR_RETURN(const Event* const event, read_step(source, *last, batch));
  const Step& step = std::get<Step>(event->body);
  if (!step.after_known) {
    const auto next = timeline.next_step_of(tid, at, end);
    if (!next) return nothing;
    return state_before(source, *next);
  }
  TW_ASSIGN_OR_RETURN(RegisterState state, state_before(source, *last));
  for (const Step::RegisterChange& change : step.registers)
    state.set(source.catalog().registers, change.index, change.value);
  return state;
}

}  // namespace tracewell::timeline
