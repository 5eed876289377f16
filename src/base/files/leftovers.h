// Leftovers: temporary files that have a name, and must not keep it when a signal ends the program.
#pragma once

#include <string>

namespace tracewell {

/// From now on SIGINT, SIGTERM and SIGHUP, where nobody has said what they should do, remove the
/// file before they end the program. `path` begins in the open folder, which stays open until
/// forget_leftover(). A path that is too long is left to its fate. Any number of files and threads.
void remember_leftover(int folder, const std::string& path);
/// It is gone, or has become what it should be.
void forget_leftover(int folder, const std::string& path);

}  // namespace tracewell
