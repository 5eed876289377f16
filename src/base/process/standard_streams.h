// Descriptors 0, 1 and 2, which whoever starts a program may have closed.
#pragma once

#include "base/result.h"

namespace tracewell {

/// From now on none of them is free. What is opened next would have that number otherwise, and be
/// written to by whoever means standard output or standard error: a message would go into a trace,
/// or into what is mapped of a file. In place of one that was closed:
/// - Standard input is at its end.
/// - Writing to standard output fails as it did (EBADF): what a command was to put there is its
///   result, and nobody may be told that it is there.
/// - What is said on standard error goes nowhere: who closed it wants no messages, and that one
///   could not be said must not undo what the command was asked for.
/// What we start finds them closed, as we did. First of all, before anything else is opened.
Status occupy_standard_streams();

}  // namespace tracewell
