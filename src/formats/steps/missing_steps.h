// The problem of a trace that says itself that instructions are missing.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/problem.h"

namespace tracewell::formats {

/// In front of step `seq`; `count` 0 = not known. A note: the file is as it should be.
Problem missing_steps(uint64_t offset, uint64_t count, uint64_t seq, std::string_view why);

}  // namespace tracewell::formats
