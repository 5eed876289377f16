#include "base/file_lock.h"

#include <fcntl.h>

#include <cerrno>

#include "base/file.h"

namespace tracewell {

namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

Status lock_file(int fd) {
  struct flock lock = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &lock) != 0) return errno_error("cannot lock it");
  return {};
}

Status wait_and_lock_file(int fd) {
  struct flock lock = whole_file();
  while (::fcntl(fd, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR) return errno_error("cannot lock it");
  return {};
}

bool file_is_locked(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct flock lock = whole_file();
  return fd.valid() && ::fcntl(fd.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace tracewell
