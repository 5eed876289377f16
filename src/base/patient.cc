#include "base/patient.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace tracewell {
namespace {

bool waited(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd one{fd, events, 0};
  ::poll(&one, 1, -1);  // an error of its own is met by the next try
  return true;
}

ssize_t write_cookie(void* cookie, const char* bytes, size_t size) {
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(cookie));
  const size_t done = write_patiently(fd, {reinterpret_cast<const uint8_t*>(bytes), size});
  return done == size ? static_cast<ssize_t>(done) : 0;  // 0 is what says that it failed
}

void replace(FILE*& stream, int fd, bool buffered) {
  cookie_io_functions_t functions = {};
  functions.write = write_cookie;
  FILE* const patient = ::fopencookie(reinterpret_cast<void*>(intptr_t{fd}), "w", functions);
  if (patient == nullptr) return;  // no memory: it stays what it is
  const int how = !buffered ? _IONBF : ::isatty(fd) != 0 ? _IOLBF : _IOFBF;
  std::setvbuf(patient, nullptr, how, BUFSIZ);
  stream = patient;
}

}  // namespace

bool waited_to_write(int fd) { return waited(fd, POLLOUT); }
bool waited_to_read(int fd) { return waited(fd, POLLIN); }

size_t write_patiently(int fd, Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put >= 0)
      done += static_cast<size_t>(put);
    else if (!waited_to_write(fd))
      break;
  }
  return done;
}

void make_standard_streams_patient() {
  replace(stdout, STDOUT_FILENO, true);
  replace(stderr, STDERR_FILENO, false);
}

}  // namespace tracewell
