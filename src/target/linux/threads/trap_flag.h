// The trap flag, and the instructions that show or replace it.
//
// PTRACE_SINGLESTEP sets the flag. Where the instruction is a POPF or an IRET, which replaces the
// flags, Linux does not note that the flag is the tracer's: it shows it, leaves it set when
// something stops the thread before the instruction, and saves it in a signal handler's frame, from
// where it comes back to kill a program that was let go meanwhile. So a POPF is not stepped while a
// signal could come between: what it does is done for it.
//
// All of these are about a stopped thread whose `regs` have been read.
#pragma once

#include "target/linux/threads/tracee.h"

namespace tracewell::target::live {

/// Before a step: what the instruction does with the flag.
SingleStep look_at_flags(const Thread& thread);
/// After one: takes our flag out of the registers that were just read.
void hide_trap_flag(Thread& thread);
/// Does the POPF that the thread stands at. False: it does not stand at one, or that one cannot be
/// done so; then nothing was changed.
bool pop_flags(Thread& thread);

}  // namespace tracewell::target::live
