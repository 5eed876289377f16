// How a command's work is stopped and watched.
#pragma once

#include "model/work.h"

namespace tracewell::cli {

/// Work that ends when an InterruptGuard has seen a signal, shows how far it is on standard error
/// where that is a terminal, and tells of its notices there: "tracewell: …". With `lines`, progress
/// is shown where it is no terminal, too, as whole lines: somebody else waits.
Work command_work(bool lines = false);

}  // namespace tracewell::cli
