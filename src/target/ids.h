// Processes and threads, by the numbers that the kernel gives them.
#pragma once

#include <cstdint>

namespace tracewell::target {

using Pid = int64_t;
using Tid = int64_t;

}  // namespace tracewell::target
