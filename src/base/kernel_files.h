// Files that the kernel makes up when they are opened or read.
#pragma once

#include <string_view>

#include "base/result.h"

namespace tracewell {

/// Is the file in one of the kernel's own file systems, such as /proc and /sys? `fd` may be O_PATH;
/// `what` names it in an error.
Result<bool> is_of_kernel(int fd, std::string_view what);

}  // namespace tracewell
