// The memory accesses of rows: pieces as a row tells them become accesses of a step.
#pragma once

#include <span>

#include "formats/steps/shown_row.h"
#include "model/batch.h"

namespace tracewell::formats {

/// What was read is shown as it was then. A read and a write of the same place beside each other
/// are one access that is both.
std::span<const Step::MemoryAccess> accesses_as_touched(const ShownRow& row, Batch& batch);

/// All contents are shown as the instruction left them, whether it read or wrote there, as
/// Tenet's tracers do. What a read shows of bytes that the same instruction wrote is what it read
/// only if it is something else than what was written: some tracers look before the instruction.
std::span<const Step::MemoryAccess> accesses_as_left(const ShownRow& row, Batch& batch);

}  // namespace tracewell::formats
