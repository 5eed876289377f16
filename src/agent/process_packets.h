// What the packets that start and end processes share.
#pragma once

#include "agent/session.h"

namespace tracewell::agent {

/// Starts what options.launch says, tells the server's user, and makes it the current thread.
Result<target::StopEvent> launch(Session& session);
/// Kills all processes.
void kill_all(Session& session);
/// Kills one.
Status kill_one(Session& session, target::Pid pid);
/// Lets one go.
Status detach_one(Session& session, target::Pid pid);

/// Removes NAME, or NAME=value of the same name, from both lists of the launch options.
void forget_variable(Session& session, std::string_view name);

}  // namespace tracewell::agent
