// The log in whose place a new one is to be. Others may write to the folder that it is in (a
// project's, which is not sticky), and exchange at any moment what has which name there: so what
// was looked at is held, and only what is held is emptied.
#pragma once

#include <string>

#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::hooks {

/// What has this name, if that is a log which may go. InvalidArgument: it is something else,
/// somebody else's, or one that a session writes to.
Result<Folder> open_old_log(const Folder& parent, const std::string& name);
/// Its files, and then the folder, if it still has the name. Before anything goes: InvalidArgument
/// when there is something in it that no log has. Rings that came meanwhile stay, and it with them.
Status remove_log(const Folder& parent, const std::string& name, const Folder& log);
/// Gives it the name `to`, which nothing has.
Status rename_log(const Folder& parent, const std::string& name, const Folder& log,
                  const std::string& to);

/// The folder is somebody else's; or, for root, others may write to it.
Status check_alone(const Folder& log);
/// Somebody has put something else into the place of what had this name.
Error exchanged(const Folder& parent, const std::string& name);

}  // namespace tracewell::hooks
