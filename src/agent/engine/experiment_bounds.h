// What a debugger may define of an experiment, all together, until QTinit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracewell::agent {

struct ExperimentBounds {
  static constexpr size_t kTracepoints = 32768;  // locations
  static constexpr uint64_t kDefinitionBytes = 32 << 20;  // what they are and do, and their texts
  static constexpr size_t kVariables = 65536;
  static constexpr size_t kVariableName = 1024;  // bytes
};

}  // namespace tracewell::agent
