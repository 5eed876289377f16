// PTRACE_SEIZE that does not wait for ever. The kernel makes it wait while the process is in
// execve(2), which in turn waits for the ends of all other threads: of those that we trace, too,
// and these wait for us. Such a call is restarted after each signal, so that a handler of ours ends
// it by hand.
#pragma once

#include "target/linux/stops/patience.h"
#include "target/target.h"

namespace tracewell::target::live {

/// 0, or why not: EINTR after some milliseconds in which the kernel made it wait.
int seize_thread(Nudger& nudger, Tid tid, uint64_t options);

}  // namespace tracewell::target::live
