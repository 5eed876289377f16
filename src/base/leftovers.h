// Leftovers: temporary files that have a name, and must not keep it when a signal ends the program.
#pragma once

#include <string>

namespace tracewell {

/// From now on SIGINT, SIGTERM and SIGHUP, where nobody has said what they should do, remove the
/// file before they end the program. A path that is too long, or one too many at a time, is left to
/// its fate. Any number of threads.
void remember_leftover(const std::string& path);
/// It is gone, or has become what it should be.
void forget_leftover(const std::string& path);

}  // namespace tracewell
