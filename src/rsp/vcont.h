// vCont: what each thread shall do (manual, "Packets").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rsp/thread_id.h"

namespace tracewell::rsp {

struct VContAction {
  enum class Kind : uint8_t { Continue, Step, Stop, RangeStep };
  Kind kind = Kind::Continue;
  int32_t signal = 0;        // GDB's number, to be delivered (`C`, `S`); 0 = none
  uint64_t start = 0;        // RangeStep: step while start <= pc < end
  uint64_t end = 0;
  std::optional<ThreadId> thread;  // none: all threads not named by an earlier action

  bool operator==(const VContAction&) const = default;
};

/// Behind `vCont` (or `vCont;`): actions separated by `;`, the first that fits a thread counts.
/// InvalidArgument when there is none or one is malformed.
Result<std::vector<VContAction>> parse_vcont(std::string_view body);

}  // namespace tracewell::rsp
