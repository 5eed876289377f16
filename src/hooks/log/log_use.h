// Who writes to a log. Sessions of one control file know of each other; those of others, such as
// of another $XDG_RUNTIME_DIR, find out here.
//
// The file .lock in a log has the path of the control file whose session writes there. The
// collector holds a lock on it as long as it lives; sessions without a collector have nobody who
// could, and are known by what their control file says.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::hooks {

/// Absolute path of the log of a channel's session.
std::string log_of(const tracewell_channel& channel);
/// Of a log that somebody named: absolute, and no slash at its end.
std::string log_path(const std::string& named);
/// Also by another name: the folder of one may be reached through a symbolic link.
bool is_same_log(const std::string& log, const std::string& other);

/// InvalidArgument when a session runs into the log.
Status check_nobody_writes(const Folder& log);
/// Says that a session of this control file does. As long as the result lives, it is locked.
Result<UniqueFd> claim_log(const Folder& log, const std::string& control);
/// Does it still say so? Somebody may have removed the log, and another session made it anew.
bool is_claimed_by(const Folder& log, const std::string& control);
/// Does the session write to the log, whoever's that is and wherever its control file is? For those
/// who only read: what the log's owner has put there is believed.
bool is_written_by(const Folder& log, std::span<const uint8_t> session);
/// The file; whoever waits for its lock waits for the collector.
Result<UniqueFd> open_log_lock(const Folder& log);
/// The session is over.
void release_log(const Folder& log);

}  // namespace tracewell::hooks
