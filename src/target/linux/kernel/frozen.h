// Processes that a control group keeps from running (cgroups(7)), as `docker pause` does, or a user
// in a group of their own. One that is let go on makes no step, and no signal changes that.
#pragma once

#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {

/// As far as the files of the two hierarchies, where they are mounted as usual, tell.
bool is_frozen(Tid tid);

}  // namespace tracewell::target::live
