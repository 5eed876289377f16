// A session that lasts as long as somebody waits: for the end of a dialogue, or of a command.
#pragma once

#include <functional>

#include "base/result.h"
#include "hooks/control/control.h"
#include "base/process/held_signals.h"
#include "hooks/foreground/shell_command.h"
#include "hooks/session/session.h"
#include "model/work.h"

namespace tracewell::hooks {

/// What the one who waits does.
struct Foreground {
  std::function<Result<Waited>()> wait;
  /// Ends this process by the signal: what is waited for then may never come. The guard, which
  /// lives on, ends the session.
  std::function<void(int signal)> end;
};

struct ForegroundEnd {
  Waited waited;
  Status stopped;  // of the session's end
};

/// Begins the session, waits, and ends it. An error is one of the beginning, where no session is
/// left, or of the wait. `signals` were held before; `work` is told what there is to tell.
Result<ForegroundEnd> trace_in_foreground(Control& control, const SessionOptions& session,
                                          const HeldSignals& signals, const Foreground& foreground,
                                          const Work& work);

}  // namespace tracewell::hooks
