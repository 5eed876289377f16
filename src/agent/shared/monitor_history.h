// Monitor commands of recordings (target/time_travel.h).
#pragma once

#include <string_view>

#include "agent/session/session.h"

namespace tracewell::agent {

/// What `monitor help` says of them.
extern const std::string_view kHistoryHelp;

/// Carries out `goto N` or `where`, and answers. False: it is neither, or this is no recording.
bool monitor_history(Session& session, std::string_view command, Reply& reply);

}  // namespace tracewell::agent
