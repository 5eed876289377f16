// Live Linux processes on x86-64, through ptrace. Needs no privileges beyond ptrace's own.
//
// ptrace belongs to threads: everything but wake() must be called from one and the same thread.
// A tiny stopped child process (the bell) stands beside the traced ones, so that wake() can end a
// waitpid() without a race.
#pragma once

#include <memory>

#include "target/linux/options.h"
#include "target/target.h"

namespace tracewell::target {

/// Dropping it detaches from processes that were attached to, and kills those that were launched.
std::unique_ptr<Target> make_linux_target(const LinuxOptions& options = {});

}  // namespace tracewell::target
