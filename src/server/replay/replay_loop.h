// Serves debuggers, one after the other, from a recording. One thread, two system calls a packet: a
// debugger that walks over a trace waits for us more than anything else.
#pragma once

#include "agent/session/session.h"
#include "server/connection/transport.h"
#include "server/replay/opening.h"

namespace tracewell::server {

/// Until `quit_fd` is readable, a debugger says `monitor exit` or `k`, the first one leaves
/// (`once`), or the transport has no more of them. One that comes before the recording is there is
/// kept waiting. The error of the opening, if it has one. Of `options`, the files are the
/// recording's.
Status serve_recorded(Transport& transport, Opening& opening, agent::SessionOptions options,
                      bool once, int quit_fd);

}  // namespace tracewell::server
