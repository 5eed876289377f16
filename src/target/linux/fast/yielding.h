// Whether code of ours in a program may let others run by a system call (sched_yield) while it
// waits. A program may filter its calls (seccomp(2)) and be killed for one that it does not make
// itself, so this is for those where it is worth most and no filter is to be expected.
#pragma once

#include "target/linux/threads/thread_table.h"

namespace tracewell::target::live {

/// More threads than processors, none of which was seen to filter calls in the last look at each;
/// nobody else runs the same code, whose filters nobody looks at; and no call is a stop that a
/// debugger asked for. `looks_without`: how many threads in a row, one after the other, have had no
/// filter.
bool may_yield(const ThreadTable& all, const Process& process, size_t looks_without);

}  // namespace tracewell::target::live
