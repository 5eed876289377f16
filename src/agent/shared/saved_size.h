// How large the file of a trace gets: frames are kept in a compact form, and become what a debugger
// has of them when they are saved.
#pragma once

#include <string>

#include "agent/session/session.h"

namespace tracewell::agent {

/// "the frames take 515.2 MB when they are saved, and 5.0 MB here"; "" where the buffer's size is
/// no surprise, or nothing is kept in a buffer.
std::string saved_size_text(const Session& session);

}  // namespace tracewell::agent
