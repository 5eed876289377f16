// Reading single steps of a trace, for one question.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "model/batch.h"
#include "model/stream.h"

namespace tracewell::trace {

/// Its own reader over a trace that others read as well. Used by one thread at a time; lives no
/// longer than the trace.
class StepReader {
 public:
  static Result<StepReader> open(const StepIndex& steps);

  /// A step that stays until the next call. It remembers where it is, so that steps that follow
  /// each other are read once. InvalidArgument when there is no such step.
  Result<const Event*> step(uint64_t seq);
  /// The same trace, for whoever looks at it otherwise, and leaves it anywhere. It has steps().
  Source& source();

 private:
  explicit StepReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  std::unique_ptr<Source> source_;
  Batch batch_;  // the last that was read; empty = the source is anywhere
};

}  // namespace tracewell::trace
