// The process that takes packets of trace hooks to the log, while a trace with alternate buffers
// runs.
#pragma once

#include "base/result.h"
#include "hooks/control/control.h"
#include "hooks/session/session.h"

namespace tracewell::hooks {

/// Starts it; it has its lock on the log when this returns. It ends by itself with the session, is
/// no child that anybody waits for, and keeps no terminal, folder or file of ours in use.
Status start_collector(Control& control, unsigned channel);

/// Begins the session, and what takes its hooks to the log, where that is a collector's.
Status begin_trace(Control& control, const SessionOptions& session);

}  // namespace tracewell::hooks
