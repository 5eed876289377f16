// The calls that are open at a step, as a debugger's backtrace shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/stream.h"
#include "model/work.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {

/// A call that has not returned.
struct StackFrame {
  uint64_t depth = 0;     // 0 = called by what ran already when the recording began
  uint64_t first = 0;     // step: the first in the function
  uint64_t function = 0;  // where the call went
  uint64_t back = 0;      // where its return is to go
  uint64_t call = 0;      // step: the call
  uint64_t call_pc = 0;   // its instruction
  std::optional<uint64_t> sp;  // the stack pointer before the call; nothing: not known
  /// A step behind a loss, the last one, that came while this was the innermost of these calls:
  /// what was called then, and whether this one is still open, nobody knows.
  std::optional<uint64_t> lost;
};

/// By value; nothing of a timeline is needed to read it.
struct CallStackAt {
  uint64_t tid = 0;
  uint64_t depth = 0;              // of all that are open
  std::vector<StackFrame> frames;  // the innermost ones, these first
  /// The thread's first step in the session of recording, unless it has none: what had called the
  /// code that runs there, the trace does not know.
  std::optional<uint64_t> begin;
  std::optional<uint64_t> lost;  // as in a StackFrame, before the outermost call
  /// The last instruction is a call or a return that nobody has seen arrive.
  bool in_flight = false;
};

struct CallStackOptions {
  std::optional<uint64_t> tid;  // nothing: the thread that runs the step, or has run the last one
  size_t most = 64;             // frames
  Work work;
};

/// Before step `at` (steps() = behind the last one), by the same calls and returns as call_tree().
/// A thread that does not run that step is where its next one finds it, if nothing is lost until
/// then. Takes the time that reading options.most steps takes, however long the trace is. `source`
/// is the trace with that timeline; it is left anywhere. InvalidArgument when there is no such
/// step, Unsupported when the machine's calls are not known.
Result<CallStackAt> call_stack_at(Source& source, const Timeline& timeline, uint64_t at,
                                  const CallStackOptions& options = {});

}  // namespace tracewell::timeline
