// Descriptors that do not block. A pipe of Node, of ssh or of a test runner may be set so by who
// shares it, at any moment: then a call that would wait fails instead (EAGAIN), and what was to be
// written is lost to whoever takes that for an error.
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace tracewell {

/// Was errno that the descriptor does not block and had no room, or nothing to read? Then it waits
/// until that may be different. errno stays as it is otherwise.
bool waited_to_write(int fd);
bool waited_to_read(int fd);

/// All of it, however long that takes. The result is how much was written: less than all where it
/// cannot go on, and errno says why.
size_t write_patiently(int fd, Bytes bytes);

/// From now on write_patiently() waits no longer for a reader that does not read once `asked` says
/// that somebody wants this process to end: errno is EINTR then.
void wait_for_readers_until(bool (*asked)());

/// From now on stdout and stderr write so, too. Once, before anything is written to them.
void make_standard_streams_patient();

}  // namespace tracewell
