// This user's folder in /tmp, where anybody may take any name that is free.
#pragma once

#include <optional>
#include <string>

#include "base/files/folder.h"
#include "base/result.h"

namespace tracewell::hooks {

/// A folder of this user's alone: the usual one, or, where somebody else had that name, another one
/// that is known by its owner. Not made yet: the usual one.
std::string folder_in_tmp();
/// Makes it, if need be; waits for others that are at it, within a bound.
Result<Folder> make_in_tmp();
/// A sentence when `folder` is one that stands for the usual one, which is somebody else's.
std::optional<std::string> folder_trouble(const std::string& folder);

}  // namespace tracewell::hooks
