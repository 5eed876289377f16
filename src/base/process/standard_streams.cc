#include "base/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace tracewell {

Status occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest number that is free is this one. Nothing can be written to standard output, nor
    // behind its other names (/dev/stdout), which would be /dev/null's.
    const int access = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    int got = fd == STDOUT_FILENO ? -1 : ::open("/dev/null", access | O_CLOEXEC);
    if (got < 0) got = ::open("/", O_PATH | O_CLOEXEC);
    if (got != fd) return errno_error("standard input, output or error is closed, and stays so");
  }
  return {};
}

}  // namespace tracewell
