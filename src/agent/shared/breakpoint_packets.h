// What Z and z share.
#pragma once

#include "agent/session/session.h"

namespace tracewell::agent {

/// `letter` is Z or z. The reply is empty for kinds that the target does not have: the debugger
/// then does without (software breakpoints by writing memory, watchpoints by stepping).
void change_breakpoint(Session& session, char letter, std::string_view body, Reply& reply);

}  // namespace tracewell::agent
