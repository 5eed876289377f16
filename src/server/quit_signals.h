// SIGINT, SIGTERM and SIGHUP, which ask a server to end: where it waits, it sees that one has come.
#pragma once

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::server {

/// From now on the first one is noted, and those behind it change nothing: without an orderly end,
/// a program that was attached to would run into the patches that are still in its code. SIGPIPE
/// does nothing. By handlers: programs that are started would inherit signals that are ignored.
/// Once in a process.
Status note_quit_signals();
/// The one that was noted; 0 = none.
int quit_signal();
/// Readable once one was noted.
int quit_signal_fd();

/// For a server that starts no programs, before any thread starts: they wait, and the descriptor is
/// readable while one does. SIGPIPE is ignored.
Result<UniqueFd> hold_quit_signals();
/// The one that waits there, which is taken; 0 = none.
int take_quit_signal(const UniqueFd& held);

}  // namespace tracewell::server
