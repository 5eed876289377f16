// What the packets that start and end processes share.
#pragma once

#include "agent/session/session.h"

namespace tracewell::agent {

/// The number of a process, as packets spell it; nullopt for what can be none's.
std::optional<target::Pid> parse_pid(std::string_view hex);

/// The process whose tracepoints packets speak of. Its selected thread may be gone, which matters
/// to nobody who traces; stock GDB goes on with such a one until its user selects another.
std::optional<target::Pid> pid_to_trace(const Session& session);

/// Starts what options.launch says, tells the server's user, and makes it the current thread.
Result<target::StopEvent> launch(Session& session);
/// Kills all processes.
void kill_all(Session& session);
/// Kills one.
Status kill_one(Session& session, target::Pid pid);
/// Lets one go.
Status detach_one(Session& session, target::Pid pid);

/// What a debugger may change of the environment of programs, set and unset together.
inline constexpr size_t kEnvironmentMax = 4096;
inline constexpr size_t kEnvironmentBytesMax = 1 << 20;
/// Adds `text` (NAME, or NAME=value) to one of the launch options' lists, in place of what there
/// was of that name. Limit when that is too much; then nothing changes.
Status set_variable(Session& session, std::string_view name, std::vector<std::string>& to,
                    std::string text);
/// Removes NAME, or NAME=value of the same name, from both lists of the launch options.
void forget_variable(Session& session, std::string_view name);

}  // namespace tracewell::agent
