// Serves debuggers, one after the other, from a recording. One thread, two system calls a packet: a
// debugger that walks over a trace waits for us more than anything else.
#pragma once

#include "agent/session.h"
#include "cli/transport.h"

namespace tracewell::cli {

/// Until `quit_fd` is readable, a debugger says `monitor exit` or `k`, the first one leaves
/// (`once`), or the transport has no more of them. `trace` may be null: no frames to look at.
Status serve_recorded(Transport& transport, target::Target& target, agent::Trace* trace,
                      const agent::SessionOptions& options, bool once, int quit_fd);

}  // namespace tracewell::cli
