// Whether what a path leads to is decided by this user and root alone, be it that nothing is there.
#pragma once

#include <string>

#include "base/result.h"

namespace tracewell::hooks {

/// InvalidArgument, with why: somebody else decides what is found on the way to the folder, or what
/// is found in it. What is only missing, or hidden by this user or root, is no error.
/// src/inproc/folder.c is the same for programs.
Status check_kept_way(const std::string& folder);
/// The same of a folder that users make as they make others: a group may write to it and to those
/// on the way, as a umask of 002 has it. NotFound: nothing is there, and others may make it first.
Status check_kept_usual_way(const std::string& folder);

}  // namespace tracewell::hooks
