// Files that somebody put where a name is used, before it was: /tmp is everybody's.
#pragma once

#include <string>

#include "base/open.h"
#include "base/result.h"

namespace tracewell {

/// For what is there and is to be written to as it is: InvalidArgument when it is in a sticky
/// folder that others may write to, and belongs neither to this user, nor root, nor the folder's
/// owner. `path` names it in the error. Nothing is asked of a folder, of what is open already
/// (/dev/stdout) and where nothing is there. The kernel has this rule for files that are opened to
/// be made, where fs.protected_fifos and fs.protected_regular are set. proc_sys_fs(5)
Status check_not_planted(const Place& place, const std::string& path);

}  // namespace tracewell
