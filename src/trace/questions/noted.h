// What people wrote at steps, and where the program was there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "trace/open_steps.h"

namespace tracewell::trace {

struct NotedStep {
  const Note& note;
  bool behind_last = false;  // of the trace's steps; then the rest is 0
  uint64_t tid = 0;          // 0 = not known
  uint64_t pc = 0;
};

/// Hands over those of `notes` in order, or only those of the step `wanted`, until `visit` says
/// false; returns how many these were. What is handed over is gone when `visit` returns.
Result<uint64_t> noted_steps(const OpenSteps& trace, const std::vector<Note>& notes,
                             std::optional<uint64_t> wanted,
                             const std::function<bool(const NotedStep&)>& visit);

}  // namespace tracewell::trace
