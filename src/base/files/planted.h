// Files that somebody put where a name is used, before it was: /tmp is everybody's.
#pragma once

#include <string>

#include "base/files/open.h"
#include "base/result.h"

namespace tracewell {

/// The mode of a file that is made now with 0666, by this process's umask.
uint32_t mode_of_made();

/// For what is there and is to be written to as it is: InvalidArgument when it is in a sticky
/// folder that others may write to, and belongs neither to this user, nor root, nor the folder's
/// owner (the kernel has this rule for files that are opened to be made, where fs.protected_fifos
/// and fs.protected_regular are set, proc_sys_fs(5)); or when it is this user's, and others may put
/// files there, and read it who could not read a file that is made now. `path` names it in the
/// error. Nothing is asked of a folder, of what is open already (/dev/stdout) and where nothing is
/// there.
Status check_not_planted(const Place& place, const std::string& path);

/// For what is there and is to be replaced by what it is changed to: InvalidArgument when it is
/// another user's than this one's and root's. They would lose it, for the new file is this user's.
Status check_not_others(const Place& place, const std::string& path);

}  // namespace tracewell
