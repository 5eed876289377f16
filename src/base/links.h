// Symbolic links, for whoever writes what somebody has named. (What is kept beside another file is
// not to be written through a link that anybody may have put there.)
#pragma once

#include <string>

#include "base/result.h"

namespace tracewell {

/// What is to be written when `path` is named: the file at the end of symbolic links, there or not.
/// Links of /proc that stand for open files are ends. Io: the links go round.
Result<std::string> end_of_links(std::string path);
/// Is it a link of /proc, which stands for an open file rather than for the name that it shows?
bool is_open_file(const std::string& path);

}  // namespace tracewell
