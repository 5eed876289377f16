#include "base/files/patient.h"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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

constexpr int kReaderMs = 100;  // one that reads makes room in that time, or in the next

std::atomic<bool (*)()> g_asked{nullptr};
std::atomic<bool> g_gave_up{false};  // as long as that is asked for, no write waits any more

bool has_reader(int fd) {
  struct stat about = {};
  if (::fstat(fd, &about) != 0) return false;
  return S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISCHR(about.st_mode);
}

/// Waits for it. False: not before this process ends.
bool has_room(int fd, bool (*asked)()) {
  for (;;) {
    pollfd one{fd, POLLOUT, 0};
    const int wait = g_gave_up && asked() ? 0 : kReaderMs;
    if (::poll(&one, 1, wait) > 0) return true;  // errors too: write() has them
    if (asked()) break;
  }
  g_gave_up = true;
  errno = EINTR;
  return false;
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

void wait_for_readers_until(bool (*asked)()) { g_asked = asked; }

size_t write_patiently(int fd, Bytes bytes) {
  bool (*const asked)() = has_reader(fd) ? g_asked.load() : nullptr;
  // A pipe with room has room for so much: no signal comes between a look at whether one came and a
  // write that waits.
  const size_t most = asked != nullptr ? PIPE_BUF : SIZE_MAX;
  size_t done = 0;
  while (done < bytes.size()) {
    if (asked != nullptr && !has_room(fd, asked)) break;
    const ssize_t put = ::write(fd, bytes.data() + done, std::min(bytes.size() - done, most));
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
