#include "timeline/calls/call_stack_at.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/text/text.h"
#include "machine/control_flow.h"
#include "model/batch.h"
#include "timeline/moment.h"

namespace tracewell::timeline {
namespace {

class Stack {
 public:
  Stack(Source& source, const Timeline& timeline, const CallStackOptions& options)
      : source_(source), timeline_(timeline), options_(options) {}

  CallStackAt out;

  Status make(uint64_t at) {
    const bool behind = at == timeline_.steps();
    StepIndex::Moment moment;
    TW_RETURN_IF_ERROR(source_.steps()->state_before(behind ? at - 1 : at, moment));
    out.tid = options_.tid.value_or(moment.tid);
    const auto place = place_of(at);
    if (!place) return {};
    OpenCalls open = timeline_.open_calls(*place, out.tid, options_.most);
    out.depth = open.depth;
    uint64_t end = at + 1;  // losses before it are inside of the call that comes next
    for (const OpenCall& call : open.calls) {
      TW_RETURN_IF_ERROR(options_.work.go_on());
      TW_RETURN_IF_ERROR(add(call));
      StackFrame& frame = out.frames.back();
      frame.lost = loss_between(call.first, end);
      end = call.first + 1;
    }
    if (out.depth == out.frames.size()) out.lost = loss_between(*out.begin, end);
    return {};
  }

 private:
  /// The step whose calls are wanted; nothing: the thread has not run yet.
  std::optional<uint64_t> place_of(uint64_t at) {
    const uint64_t session = timeline_.session_of(std::min(at, timeline_.steps() - 1)).first;
    const auto first = timeline_.next_step_of(out.tid, session);
    const auto next = timeline_.next_step_of(out.tid, at);
    const bool runs = at < timeline_.steps();
    if (!first || *first > at) return std::nullopt;
    out.begin = first;
    if (runs && next && *next < timeline_.stretch_of(at).second) return next;
    const auto last = timeline_.last_step_of(out.tid, at);
    out.in_flight = last && is_in_flight(*last);
    return last;
  }

  bool is_in_flight(uint64_t last) {
    Batch batch;
    const auto event = read_step(source_, last, batch);
    if (!event) return false;
    const machine::FlowDecoder decoder(source_.catalog().machine);
    const machine::Flow flow = decoder.decode(std::get<Step>((*event)->body).opcode).flow;
    return flow == machine::Flow::Call || flow == machine::Flow::Return;
  }

  /// The last of the steps behind a loss from behind `from` to before `end`.
  std::optional<uint64_t> loss_between(uint64_t from, uint64_t end) const {
    const std::span<const uint64_t> all = timeline_.stretches();
    const auto after = std::ranges::lower_bound(all, end);
    if (after == all.begin() || after[-1] <= from) return std::nullopt;
    return after[-1];
  }

  Status add(const OpenCall& call) {
    StackFrame frame;
    frame.depth = out.depth - 1 - out.frames.size();
    frame.first = call.first;
    frame.function = call.function;
    frame.back = call.back;
    // As a rule nobody else has run in between.
    StepIndex::Moment moment;
    frame.call = call.first - std::min<uint64_t>(call.first, 1);
    TW_RETURN_IF_ERROR(source_.steps()->state_before(frame.call, moment));
    if (moment.tid != out.tid || call.first == 0) {
      const auto last = timeline_.last_step_of(out.tid, call.first);
      if (!last) return {Errc::Corrupt, "the trace has not the calls that its index has"};
      frame.call = *last;
      TW_RETURN_IF_ERROR(source_.steps()->state_before(frame.call, moment));
    }
    frame.call_pc = moment.pc;
    frame.sp = stack_pointer(moment.registers);
    out.frames.push_back(frame);
    return {};
  }

  std::optional<uint64_t> stack_pointer(const RegisterState& state) const {
    const RegisterLayout& layout = source_.catalog().registers;
    if (!layout.sp_index || !state.is_valid(*layout.sp_index)) return std::nullopt;
    const Register& sp = layout.registers[*layout.sp_index];
    return load_uint(state.block.data() + sp.offset, std::min<size_t>(sp.size_bytes, 8),
                     source_.catalog().endian);
  }

  Source& source_;
  const Timeline& timeline_;
  const CallStackOptions& options_;
};

}  // namespace

OpenCalls Timeline::open_calls(uint64_t step, uint64_t tid, size_t most) const {
  return keeper_->ask(
      [&](const Index& index) { return timeline::open_calls(index, step, tid, most); });
}

Result<CallStackAt> call_stack_at(Source& source, const Timeline& timeline, uint64_t at,
                                  const CallStackOptions& options) {
  if (timeline.steps() == 0 || at > timeline.steps())
    return {Errc::InvalidArgument, "there is no such step"};
  const std::string& machine = source.catalog().machine;
  if (machine != "x86-64" && machine != "i386")
    return {Errc::Unsupported, "calls and returns of " + printable(machine) + " are not known"};
  Stack stack(source, timeline, options);
  TW_RETURN_IF_ERROR(stack.make(at));
  return std::move(stack.out);
}

}  // namespace tracewell::timeline
