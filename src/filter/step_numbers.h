// Steps by number, whatever the file calls them.
#pragma once

#include <memory>

#include "model/stream.h"

namespace tracewell::filter {

/// The same events; those of a trace of steps get the numbers that all commands go by: a step how
/// many are in front of it, what stands between two that of the step behind it. Files that hold a
/// part of a trace may have others. Sources that can seek number their steps so themselves, and are
/// handed back.
std::unique_ptr<Source> with_step_numbers(std::unique_ptr<Source> source);

}  // namespace tracewell::filter
