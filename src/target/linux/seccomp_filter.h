// What filters of system calls (seccomp(2)) say to the one call that only stops make: a call that
// waits with a timeout and is interrupted by a stop goes on through restart_syscall(2), with the
// time that is left. A program that nobody ever stopped has never made it, and its filter may end
// the program there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/user.h>

#include "target/target.h"

namespace tracewell::target::live {

/// What a filter (classic BPF, as seccomp(2) has it) answers to a call; nullopt: it is none that
/// the kernel would take.
std::optional<uint32_t> run_filter(std::span<const sock_filter> filter, const seccomp_data& call);

/// Is the stopped thread in a call that goes on through restart_syscall(2), and do its filters
/// forbid that? Only who has CAP_SYS_ADMIN may read filters: false for others.
bool restart_is_forbidden(Tid tid, const user_regs_struct& regs);

/// Has the call begin anew instead, with all of its time, or fail with EINTR where a signal's
/// handler comes first, as restart_syscall would.
void begin_call_anew(user_regs_struct& regs);

}  // namespace tracewell::target::live
