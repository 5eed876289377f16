// Source -> Source: no more than the first events.
#pragma once

#include <cstdint>
#include <memory>

#include "model/stream.h"

namespace tracewell::filter {

/// Ends behind event `limit` (from 1), and reads little more than the batch that has it. What comes
/// with a step is not counted: notes at it, losses in front of it; nor are marks of sessions.
std::unique_ptr<Source> limited(std::unique_ptr<Source> source, uint64_t limit);

}  // namespace tracewell::filter
