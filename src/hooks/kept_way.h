// Whether what a path leads to is decided by this user and root alone, be it that nothing is there.
#pragma once

#include <string>

#include "base/result.h"

namespace tracewell::hooks {

/// InvalidArgument, with why: somebody else decides what is found on the way to the folder, or what
/// is found in it. What is only missing, or hidden by this user or root, is no error.
/// src/inproc/folder.c is the same for programs.
Status check_kept_way(const std::string& folder);

}  // namespace tracewell::hooks
