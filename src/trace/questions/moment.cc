#include "trace/questions/moment.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "timeline/moment.h"

namespace tracewell::trace {

Result<Moment> Moment::open(const StepTrace& trace, uint64_t step, std::optional<uint64_t> thread,
                            const Work& work) {
  const uint64_t count = trace.timeline->steps();
  if (step > count || count == 0)
    return {Errc::InvalidArgument,
            fmt::format("there is no step {}: the trace has {}", step, count),
            failures::kNoSuchStep};
  TW_ASSIGN_OR_RETURN(StepReader reader, trace.reader());
  Moment out(trace, std::move(reader), work);
  out.number_ = step;
  const bool behind = step == count;
  TW_ASSIGN_OR_RETURN(const Event* const event, out.reader_.step(behind ? count - 1 : step));
  if (thread) TW_RETURN_IF_ERROR(check_thread(trace, *thread));
  out.thread_ = thread.value_or(event->tid);
  if (!behind) out.step_ = step_at(*event);
  return out;
}

std::span<const Note> Moment::notes() const {
  const auto found = std::ranges::equal_range(trace_->notes, number_, {}, &Note::step);
  return {found.begin(), found.end()};
}

Result<RegisterState> Moment::registers() {
  return timeline::registers_at(reader_.source(), *trace_->timeline, number_, thread_);
}

Result<NamedRegister> Moment::register_named(std::string_view name) {
  TW_ASSIGN_OR_RETURN(const RegisterState state, registers());
  return register_by_name(trace_->catalog(), state, name);
}

Result<uint64_t> Moment::address(std::string_view expression) {
  TW_ASSIGN_OR_RETURN(const RegisterState state, registers());
  return relative_address(trace_->catalog(), state, expression);
}

Status Moment::read_memory(uint64_t address, std::span<uint8_t> bytes,
                           std::span<ByteState> states) {
  trace_->timeline->memory(number_, address, bytes, states);
  return {};
}

Result<timeline::CallStackAt> Moment::stack(size_t frames_max) {
  timeline::CallStackOptions wanted;
  wanted.tid = thread_;
  wanted.most = frames_max;
  wanted.work = work_;
  return timeline::call_stack_at(reader_.source(), *trace_->timeline, number_, wanted);
}

}  // namespace tracewell::trace
