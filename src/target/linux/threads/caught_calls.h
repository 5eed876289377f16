// System calls that the debugger wants to be told of, at their entry and at their return. Threads
// of such a process are run with PTRACE_SYSCALL; others never stop for it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "target/linux/threads/thread_table.h"
#include "target/target.h"

namespace tracewell::target::live {

/// `only`: these; empty = all.
Status catch_system_calls(const ThreadTable& threads, Pid pid, bool on, std::vector<int64_t> only);
bool catches(const Thread& thread, int64_t number);
/// Would a single step of it leave out a call that is caught?
bool steps_into_caught_call(Thread& thread);

}  // namespace tracewell::target::live
