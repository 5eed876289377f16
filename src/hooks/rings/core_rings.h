// Rings that a core file has. Which ring a mapping is, the kernel says by the name of its file
// (NT_FILE); what stands in it, whoever has it mapped may have written: a process that gave up its
// rights has rings of its program's, also of traces that have ended.
#pragma once

#include <memory>

#include "base/files/file.h"
#include "base/result.h"
#include "hooks/rings/dead_ring.h"

namespace tracewell::hooks {

/// A ring for each mapping that is named as one: out of the core file's memory or, where that has
/// not all of it, of the file that has the name still. Its head agrees with its name, as far as
/// that can be known; all others are told in `left_out`. Out of memory that is no mapping of a
/// ring comes none. Files of others than the core file's owner are not taken, but where that is
/// root: then it is told whose they are. Corrupt when it is no core file.
Result<DeadRings> rings_of_core(const std::shared_ptr<InputFile>& file);

}  // namespace tracewell::hooks
