// Files of a process that is looked at: what it runs, and what it has mapped. The process and its
// user choose all names in it, so a file is believed to be the one that is mapped only where the
// kernel says so.
#pragma once

#include "base/files/file.h"
#include "base/result.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

/// What the thread's process runs, which may have been deleted or replaced by now; for reading.
Result<UniqueFd> open_program(Tid tid);

/// The file behind one of mappings(tid), for reading. NotFound: it is of none, or what has its name
/// now is another one.
Result<UniqueFd> open_mapped(Tid tid, const Mapping& map);

}  // namespace tracewell::target::live
