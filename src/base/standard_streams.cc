#include "base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace tracewell {

Status occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest number that is free is this one. Standard output for reading alone, as glibc does
    // it for set-uid programs.
    const int access = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    int got = ::open("/dev/null", access | O_CLOEXEC);
    // There is no /dev here. Nothing can be read of this, or written to it.
    if (got < 0) got = ::open("/", O_PATH | O_CLOEXEC);
    if (got != fd) return errno_error("standard input, output or error is closed, and stays so");
  }
  return {};
}

}  // namespace tracewell
