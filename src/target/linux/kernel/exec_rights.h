// Children that stay attached, unseen, until they run another program (vfork, posix_spawn). The
// kernel ignores set-uid and set-gid bits and capabilities of a file that is run by who is traced
// without CAP_SYS_PTRACE (ptrace(2)): sudo or mount would fail.
#pragma once

#include <sys/user.h>

#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/patched_memory.h"

namespace tracewell::target::live {

/// Has this process no CAP_SYS_PTRACE?
bool takes_rights_at_exec();

/// Does the thread, at the entry of a system call, begin to run a file that gives it rights?
bool runs_privileged_file(Tid tid, const user_regs_struct& regs, const PatchedMemory& memory);

}  // namespace tracewell::target::live
