// The machine before a step of a trace: registers, memory, open calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/snapshot.h"
#include "model/work.h"
#include "timeline/calls/call_stack_at.h"
#include "timeline/timeline.h"
#include "trace/register_values.h"
#include "trace/step_at.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

/// One moment of a trace that outlives it; any number of them may be open.
class Moment final : public Snapshot {
 public:
  /// Before step `step`; their number: behind the last one. `thread`: whose registers and calls are
  /// asked for, if not those of the thread that runs the step. InvalidArgument when there is no
  /// such step or thread.
  static Result<Moment> open(const StepTrace& trace, uint64_t step,
                             std::optional<uint64_t> thread, const Work& work);

  uint64_t number() const { return number_; }
  bool is_behind_last() const { return !step_; }
  /// The step that comes next; nullptr behind the last one.
  const StepAt* step() const { return step_ ? &*step_ : nullptr; }
  uint64_t thread() const { return thread_; }  // 0 = not known
  /// What people wrote at the step.
  std::span<const Note> notes() const;

  const RegisterLayout& layout() const override { return trace_->catalog().registers; }
  Endian endian() const override { return trace_->catalog().endian; }
  Result<RegisterState> registers() override;
  Status read_memory(uint64_t address, std::span<uint8_t> bytes,
                     std::span<ByteState> states) override;
  /// As register_by_name() has it.
  Result<NamedRegister> register_named(std::string_view name);
  /// Of an expression such as $rsp+8, as relative_address() has it.
  Result<uint64_t> address(std::string_view expression);
  /// The calls that are open, the innermost one first.
  Result<timeline::CallStackAt> stack(size_t frames_max);

 private:
  Moment(const StepTrace& trace, StepReader reader, const Work& work)
      : trace_(&trace), reader_(std::move(reader)), work_(work) {}

  const StepTrace* trace_;
  StepReader reader_;
  Work work_;
  uint64_t number_ = 0;
  uint64_t thread_ = 0;
  std::optional<StepAt> step_;
};

}  // namespace tracewell::trace
