// Files that the kernel makes up when they are opened or read.
#pragma once

#include <string_view>

#include "base/result.h"

namespace tracewell {

/// Is the file in one of the kernel's own file systems, such as /proc and /sys? `fd` may be O_PATH;
/// `what` names it in an error.
Result<bool> is_of_kernel(int fd, std::string_view what);

/// Does the name begin as those of such files do? A user's program may have one, in a namespace
/// where that is its own file: whoever is told the name opens the kernel's.
bool has_kernels_name(std::string_view path);

}  // namespace tracewell
